// biome-ignore lint/suspicious/noExplicitAny: events are merged here as a client does it, by their names.
type Loose = any;

const join = (before: string | undefined, more: string | null | undefined): string | undefined => (more ? (before ?? '') + more : before);

const at = (made: Loose, name: string | number, empty: Loose = {}): Loose => {
  made[name] ??= empty;
  return made[name];
};

const addCall = (made: Loose, { id, type, function: called }: Loose): void => {
  made.id ??= id;
  made.type ??= type;
  made.name = join(made.name, called?.name);
  made.arguments = join(made.arguments, called?.arguments);
};

const addDelta = (made: Loose, delta: Loose = {}): void => {
  made.role ??= delta.role;
  made.content = join(made.content, delta.content);
  made.reasoning = join(made.reasoning, delta.reasoning);
  if (delta.function_call) addCall(at(made, 'functionCall'), { function: delta.function_call });
  for (const call of delta.tool_calls ?? []) addCall(at(at(made, 'calls'), call.index), call);
};

const addChoice = (made: Loose, choice: Loose): void => {
  addDelta(made, choice.delta);
  made.text = join(made.text, choice.text);
  for (const [name, list] of Object.entries(choice.logprobs ?? {})) {
    if (Array.isArray(list)) at(at(made, 'logprobs'), name, []).push(...list);
  }
  if (choice.token_ids?.length) at(made, 'tokenIds', []).push(...choice.token_ids);
  made.promptTokenIds = choice.prompt_token_ids ?? made.promptTokenIds;
  if (!choice.finish_reason) return;
  made.ends = (made.ends ?? 0) + 1;
  made.finish = [choice.finish_reason, choice.stop_reason];
};

const addChunk = (made: Loose, chunk: Loose): void => {
  for (const choice of chunk.choices) addChoice(at(at(made, 'choices'), choice.index), choice);
  for (const name of ['id', 'object', 'created', 'model', 'usage', 'perf_metrics', 'prompt_token_ids']) {
    if (chunk[name] !== undefined && chunk[name] !== null) made[name] = chunk[name];
  }
};

// Blocks of messages are found by their indexes.
const addBlockEvent = (made: Loose, { type, index, ...event }: Loose): void => {
  const block = at(at(made, 'blocks'), index);
  if (type !== 'content_block_delta') block[type] = event;
  else for (const [name, text] of Object.entries<string>(event.delta)) block[name] = name === 'type' ? text : join(block[name], text);
};

// Items of responses are found by their ids, in the order of their first events.
const addEvent = (made: Loose, { type, sequence_number: _, ...event }: Loose): void => {
  if (event.index !== undefined) {
    addBlockEvent(made, { type, ...event });
    return;
  }
  const id = event.item_id ?? event.item?.id;
  if (id === undefined) {
    made[type] = event;
    return;
  }
  const items = at(made, 'items');
  const item = at(items, id, { position: Object.keys(items).length });
  if (!type.endsWith('.delta')) {
    item[type] = event;
    return;
  }
  item.text = join(item.text, event.delta);
  at(item, 'logprobs', []).push(...(event.logprobs ?? []));
};

/** The state of a client at the end of a stream, whatever its chunks were. */
export const accumulate = (events: string): unknown => {
  const made: Loose = {};
  for (const event of events.split('\n\n').filter(Boolean)) {
    const data = event.slice(event.indexOf('data: ') + 'data: '.length);
    if (data === '[DONE]') {
      made.isDone = true;
      continue;
    }
    const parsed = JSON.parse(data);
    if (event.startsWith('event: ')) addEvent(made, parsed);
    else addChunk(made, parsed);
  }
  return made;
};
