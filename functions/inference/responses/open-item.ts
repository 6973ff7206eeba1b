import type { OpenItem, OutputMessage, OutputReasoning } from '../../../shared/responses/output-item.ts';
import { sealText } from './tools/compaction.ts';
import { added, done } from './tools/item-events.ts';

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
const openThought = (id: string, index: number, seals: boolean): OpenItem => {
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
      if (seals) item.encrypted_content = sealText(part.text);
      return [
        { type: 'response.reasoning_text.done', ...at, text: part.text },
        { type: 'response.content_part.done', ...at, part },
        done(index, item),
      ];
    },
  };
};

// Most of OpenAI's clients read only summaries.
const openSummary = (id: string, index: number, seals: boolean): OpenItem => {
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
      if (seals) item.encrypted_content = sealText(part.text);
      return [
        { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
        { type: 'response.reasoning_summary_part.done', ...at, part },
        done(index, item),
      ];
    },
  };
};

/**
 * @param asSummary true if the caller requested a summary of the reasoning
 * @param seals true if the caller requested `encrypted_content`, which some clients replay instead of the text
 */
export const openReasoning = (id: string, index: number, { asSummary, seals }: { asSummary: boolean; seals: boolean }): OpenItem =>
  asSummary ? openSummary(id, index, seals) : openThought(id, index, seals);
