import { idLike } from '../../../shared/ids/id.ts';
import type { ItemEvent, ItemStatus, OpenItem, OutputItem } from '../../../shared/responses/output-item.ts';
import { reasoningOf, textOf, type UpstreamChoice, type UpstreamChunk, type UpstreamToolCall } from '../../../shared/upstream/chunk.ts';
import { createCallReader } from '../chat/reply.ts';
import { openMessage, openReasoning } from './open-item.ts';
import { callIdKinds, openToolCall } from './tools/open-tool-call.ts';
import type { ToolNames } from './tools/tool-names.ts';

type Ending = { status: 'completed' } | { status: 'incomplete'; reason: 'max_output_tokens' | 'content_filter' };

/** The form of an answer that its request asks for. */
export interface OutputForm {
  /** True to send reasoning as a summary. */
  asSummary: boolean;
  /** True to send reasoning in `encrypted_content` too. */
  seals: boolean;
  names: Pick<ToolNames, 'find'>;
}

const REASONS: Readonly<Record<string, 'max_output_tokens' | 'content_filter'>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

// A part of a character has no text of its own.
const PARTIAL = '\ufffd';

// Runtimes send the token that ends the reasoning without text, before the first text.
const ofText = (scores: readonly unknown[], text: string): readonly unknown[] => {
  const isOfText = (score: unknown): boolean => {
    const bytes = (score as { bytes?: unknown } | null)?.bytes;
    // Buffer converts what is no number, and an object can't always be converted.
    const token = Array.isArray(bytes) && bytes.every(Number.isInteger) ? Buffer.from(bytes).toString() : '';
    return token.includes(PARTIAL) || text.trimStart().startsWith(token.trimStart());
  };
  return scores.slice(Math.max(0, scores.findIndex(isOfText)));
};

/**
 * Converts a runtime's chunks to output items. Reasoning or text continues the current item of its kind, or begins a
 * new one. A call stays open until the end, because runtimes can write several at a time.
 * @param responseId the response's id, from which the items' ids are derived
 */
export const createOutput = (responseId: string, form: OutputForm) => {
  const items: OutputItem[] = [];
  const calls = new Map<number, OpenItem>();
  const reader = createCallReader(`call_${idLike('functionCall', responseId).slice('fc_'.length)}_`);
  let current: OpenItem | undefined;
  // A character can have several tokens. Log probabilities of tokens without text wait for the text, if it comes.
  let held: unknown[] = [];
  let finishReason: string | undefined;

  const idOf = (kind: 'message' | 'reasoning' | (typeof callIdKinds)[keyof typeof callIdKinds]): string =>
    `${idLike(kind, responseId)}_${items.length}`;

  const begin = (opened: OpenItem): ItemEvent[] => {
    items.push(opened.item);
    return opened.begin();
  };

  const close = (status: ItemStatus): ItemEvent[] => {
    const events = current?.finish(status) ?? [];
    current = undefined;
    return events;
  };

  const write = (kind: 'message' | 'reasoning', text: string, logprobs?: readonly unknown[]): ItemEvent[] => {
    const events: ItemEvent[] = [];
    if (current?.item.type !== kind) {
      events.push(...close('completed'));
      const id = idOf(kind);
      current = kind === 'message' ? openMessage(id, items.length) : openReasoning(id, items.length, form);
      events.push(...begin(current));
    }
    events.push(...(current?.add(text, logprobs) ?? []));
    return events;
  };

  const call = (deltas: readonly UpstreamToolCall[]): ItemEvent[] =>
    reader.take(deltas).flatMap(({ index, opened, arguments: text }) => {
      if (!opened) return calls.get(index)?.add(text) ?? [];
      const events = close('completed');
      const tool = form.names.find(opened.name) ?? { kind: 'function', name: opened.name };
      const id = idOf(callIdKinds[tool.kind]);
      const made = openToolCall(id, items.length, tool, opened.id);
      calls.set(index, made);
      return [...events, ...begin(made), ...made.add(text)];
    });

  const takeChoice = ({ index, delta, logprobs, finish_reason }: UpstreamChoice): ItemEvent[] => {
    if (finishReason !== undefined || (index ?? 0) !== 0) return [];
    const events: ItemEvent[] = [];
    const reasoning = delta ? reasoningOf(delta) : '';
    if (reasoning) {
      held = [];
      events.push(...write('reasoning', reasoning));
    }
    const text = textOf(delta?.content);
    const deltas = Array.isArray(delta?.tool_calls) ? delta.tool_calls : [];
    for (const score of logprobs?.content ?? []) held.push(score);
    if (text) events.push(...write('message', text, current?.item.type === 'message' ? held : ofText(held, text)));
    // Log probabilities of other output don't belong to the next text.
    if (text || reasoning || deltas.length > 0) held = [];
    if (finish_reason) finishReason = finish_reason;
    return deltas.length > 0 ? [...events, ...call(deltas)] : events;
  };

  const ending = (): Ending => {
    const reason = REASONS[finishReason ?? ''];
    return reason ? { status: 'incomplete', reason } : { status: 'completed' };
  };

  // Only the last item can be incomplete.
  const finish = (status: ItemStatus): ItemEvent[] => {
    const open = [...calls.values(), ...(current ? [current] : [])].sort((a, b) => items.indexOf(a.item) - items.indexOf(b.item));
    calls.clear();
    current = undefined;
    return open.flatMap((one, position) => one.finish(position === open.length - 1 ? status : 'completed'));
  };

  return {
    take: (chunks: readonly UpstreamChunk[]): ItemEvent[] => chunks.flatMap(({ choices }) => (choices ?? []).flatMap(takeChoice)),
    ending,
    /** The events that end an answer. An answer without output gets an empty message. */
    end: (): ItemEvent[] => {
      const { status } = ending();
      const hasNoOutput = items.every(({ type }) => type === 'reasoning');
      return [...(hasNoOutput && status === 'completed' ? write('message', '') : []), ...finish(status)];
    },
    /** Ends all open items without events, because the answer failed. */
    abandon: (): void => void finish('incomplete'),
    items: (): readonly OutputItem[] => items,
  };
};
export type Output = ReturnType<typeof createOutput>;
