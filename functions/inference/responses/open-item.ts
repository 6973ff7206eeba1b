import type {
  ItemEvent,
  ItemStatus,
  OpenItem,
  OutputCall,
  OutputItem,
  OutputMessage,
  OutputReasoning,
} from '../../../shared/responses/output-item.ts';

const added = (index: number, item: OutputItem): ItemEvent => ({
  type: 'response.output_item.added',
  output_index: index,
  item: structuredClone(item),
});
const done = (index: number, item: OutputItem): ItemEvent => ({ type: 'response.output_item.done', output_index: index, item });

/** A message with one part. */
export const openMessage = (id: string, index: number): OpenItem => {
  const part = { type: 'output_text' as const, text: '', annotations: [], logprobs: [] as unknown[] };
  const item: OutputMessage = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
  const at = { item_id: id, output_index: index, content_index: 0 };
  return {
    item,
    begin: () => {
      const events = [added(index, item), { type: 'response.content_part.added' as const, ...at, part: structuredClone(part) }];
      item.content.push(part);
      return events;
    },
    add: (text, logprobs = []) => {
      part.text += text;
      for (const one of logprobs) part.logprobs.push(one);
      return [{ type: 'response.output_text.delta', ...at, delta: text, logprobs }];
    },
    finish: (status) => {
      item.status = status;
      return [
        { type: 'response.output_text.done', ...at, text: part.text, logprobs: part.logprobs },
        { type: 'response.content_part.done', ...at, part },
        done(index, item),
      ];
    },
  };
};

// Open models have `reasoning_text`.
const openThought = (id: string, index: number): OpenItem => {
  const part = { type: 'reasoning_text' as const, text: '' };
  const content: (typeof part)[] = [];
  const item: OutputReasoning = { id, type: 'reasoning', status: 'in_progress', summary: [], content };
  const at = { item_id: id, output_index: index, content_index: 0 };
  return {
    item,
    begin: () => {
      const events = [added(index, item), { type: 'response.content_part.added' as const, ...at, part: structuredClone(part) }];
      content.push(part);
      return events;
    },
    add: (text) => {
      part.text += text;
      return [{ type: 'response.reasoning_text.delta', ...at, delta: text }];
    },
    finish: (status) => {
      item.status = status;
      return [
        { type: 'response.reasoning_text.done', ...at, text: part.text },
        { type: 'response.content_part.done', ...at, part },
        done(index, item),
      ];
    },
  };
};

// Most of OpenAI's clients read only summaries.
const openSummary = (id: string, index: number): OpenItem => {
  const part = { type: 'summary_text' as const, text: '' };
  const item: OutputReasoning = { id, type: 'reasoning', status: 'in_progress', summary: [] };
  const at = { item_id: id, output_index: index, summary_index: 0 };
  return {
    item,
    begin: () => {
      const events = [added(index, item), { type: 'response.reasoning_summary_part.added' as const, ...at, part: structuredClone(part) }];
      item.summary.push(part);
      return events;
    },
    add: (text) => {
      part.text += text;
      return [{ type: 'response.reasoning_summary_text.delta', ...at, delta: text }];
    },
    finish: (status) => {
      item.status = status;
      return [
        { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
        { type: 'response.reasoning_summary_part.done', ...at, part },
        done(index, item),
      ];
    },
  };
};

/** @param asSummary true if the caller requested a summary of the reasoning */
export const openReasoning = (id: string, index: number, asSummary: boolean): OpenItem =>
  asSummary ? openSummary(id, index) : openThought(id, index);

/** A function call. */
export const openCall = (id: string, index: number, called: { callId: string; name: string }): OpenItem => {
  const item: OutputCall = { id, type: 'function_call', status: 'in_progress', call_id: called.callId, name: called.name, arguments: '' };
  const at = { item_id: id, output_index: index };
  return {
    item,
    begin: () => [added(index, item)],
    add: (text) => {
      item.arguments += text;
      return text ? [{ type: 'response.function_call_arguments.delta', ...at, delta: text }] : [];
    },
    finish: (status: ItemStatus) => {
      item.status = status;
      return [{ type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments }, done(index, item)];
    },
  };
};
