import { idLike } from '../../../shared/ids/id.ts';
import type { ItemEvent, ItemStatus, OpenItem, OutputItem } from '../../../shared/responses/output-item.ts';
import { reasoningOf, textOf, type UpstreamChoice, type UpstreamChunk, type UpstreamToolCall } from '../../../shared/upstream/chunk.ts';
import { createCallReader } from '../chat/reply.ts';
import { openCall, openMessage, openReasoning } from './open-item.ts';

/** How an answer ended, in the words of a response. */
export type Ending = { status: 'completed' } | { status: 'incomplete'; reason: 'max_output_tokens' | 'content_filter' };

const REASONS: Readonly<Record<string, 'max_output_tokens' | 'content_filter'>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/**
 * A runtime's chunks as output items: each piece of reasoning or text continues the item of its kind or begins one, in the order of their
 * first words; a call stays open until the end, because runtimes may write several at a time.
 * @param responseId what the ids of the items are like
 * @param asSummary whether reasoning goes where summaries are
 */
export const createOutput = (responseId: string, asSummary: boolean) => {
  const items: OutputItem[] = [];
  const calls = new Map<number, OpenItem>();
  const callIds = new Set<string>();
  const reader = createCallReader(`call_${idLike('functionCall', responseId).slice('fc_'.length)}_`);
  /** The message or the reasoning that is written now. */
  let current: OpenItem | undefined;
  /** The log probabilities of tokens that have no text yet: a character may be made of several. They are told with the text, if it comes. */
  let held: unknown[] = [];
  let finishReason: string | undefined;

  const idOf = (kind: 'message' | 'functionCall' | 'reasoning'): string => `${idLike(kind, responseId)}_${items.length}`;

  const begin = (opened: OpenItem): ItemEvent[] => {
    items.push(opened.item);
    return opened.begin();
  };

  const close = (status: ItemStatus): ItemEvent[] => {
    const events = current?.finish(status) ?? [];
    current = undefined;
    return events;
  };

  /** Continues the item of a kind, or ends the other and begins one. */
  const write = (kind: 'message' | 'reasoning', text: string, logprobs?: readonly unknown[]): ItemEvent[] => {
    const events: ItemEvent[] = [];
    if (current?.item.type !== kind) {
      events.push(...close('completed'));
      const id = idOf(kind);
      current = kind === 'message' ? openMessage(id, items.length) : openReasoning(id, items.length, asSummary);
      events.push(...begin(current));
    }
    events.push(...(current?.add(text, logprobs) ?? []));
    return events;
  };

  const call = (deltas: readonly UpstreamToolCall[]): ItemEvent[] =>
    reader.take(deltas).flatMap(({ index, opened, arguments: text }) => {
      if (!opened) return calls.get(index)?.add(text) ?? [];
      const events = close('completed');
      const id = idOf('functionCall');
      // Two calls of one id could not be told apart by their results.
      const callId = callIds.has(opened.id) ? `${opened.id}_${index}` : opened.id;
      callIds.add(callId);
      const made = openCall(id, items.length, { callId, name: opened.name });
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
    if (text) events.push(...write('message', text, held));
    // What came with other words is none of the next text.
    if (text || reasoning || deltas.length > 0) held = [];
    if (finish_reason) finishReason = finish_reason;
    return deltas.length > 0 ? [...events, ...call(deltas)] : events;
  };

  const ending = (): Ending => {
    const reason = REASONS[finishReason ?? ''];
    return reason ? { status: 'incomplete', reason } : { status: 'completed' };
  };

  /** Ends what is open, in order; only the last can have been cut off. */
  const finish = (status: ItemStatus): ItemEvent[] => {
    const open = [...calls.values(), ...(current ? [current] : [])].sort((a, b) => items.indexOf(a.item) - items.indexOf(b.item));
    calls.clear();
    current = undefined;
    return open.flatMap((one, position) => one.finish(position === open.length - 1 ? status : 'completed'));
  };

  return {
    take: (chunks: readonly UpstreamChunk[]): ItemEvent[] => chunks.flatMap(({ choices }) => (choices ?? []).flatMap(takeChoice)),
    ending,
    /** The events that end an answer; one that says nothing is an empty message. */
    end: (): ItemEvent[] => {
      const { status } = ending();
      const isSilent = items.every(({ type }) => type === 'reasoning');
      return [...(isSilent && status === 'completed' ? write('message', '') : []), ...finish(status)];
    },
    /** Ends what is open without a word about it: the answer has failed. */
    abandon: (): void => void finish('incomplete'),
    items: (): readonly OutputItem[] => items,
  };
};
export type Output = ReturnType<typeof createOutput>;
