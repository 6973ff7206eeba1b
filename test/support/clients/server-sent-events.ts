/**
 * The events of a stream without its `[DONE]`, each with its data and its name, if it has one. Comments are skipped.
 */
export const readEvents = (stream: string): { events: { name?: string; data: unknown }[]; isDone: boolean } => {
  const events = stream.split('\n\n').flatMap((event) => {
    const lines = event.split('\n');
    const fieldOf = (field: string): string | undefined => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
    const [name, data] = [fieldOf('event'), fieldOf('data')];
    return data === undefined ? [] : [{ ...(name !== undefined && { name }), data }];
  });
  const isDone = events.at(-1)?.data === '[DONE]';
  const sent = isDone ? events.slice(0, -1) : events;
  return { events: sent.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) })), isDone };
};
