/** The events of a stream without its `[DONE]`, each with its name, if it has one, and its data; comments are passed over. */
export const readEvents = (stream: string): { events: { name?: string; data: unknown }[]; isDone: boolean } => {
  const events = stream.split('\n\n').flatMap((event) => {
    const lines = event.split('\n');
    const fieldOf = (field: string): string | undefined => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
    const [name, data] = [fieldOf('event'), fieldOf('data')];
    return data === undefined ? [] : [{ ...(name !== undefined && { name }), data }];
  });
  const isDone = events.at(-1)?.data === '[DONE]';
  const told = isDone ? events.slice(0, -1) : events;
  return { events: told.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) })), isDone };
};
