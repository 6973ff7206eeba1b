import type { UpstreamChoice, UpstreamDelta, UpstreamToolCall, UpstreamUsage } from '../upstream/chunk.ts';

/** What a reply is made with beside the runtime's chunks. */
export interface ReplyFacts {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** The published name, whatever the runtime calls it. */
  model: string;
  /** Measurements of the request, where the caller asked for them; asked for when the answer is complete. */
  perf?: () => Record<string, unknown>;
}

/** What the caller's request decides about the form of its reply. */
export interface ReplyForm {
  includeUsage: boolean;
  tokenIds: boolean;
  /** The deprecated `function_call` in place of `tool_calls`. */
  isLegacy: boolean;
}

const FINISH_REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** A runtime's finish reason in OpenAI's words; one that OpenAI does not know is `stop`. */
export const finishReasonOf = (reason: string, { isLegacy }: ReplyForm): string => {
  if (isLegacy && reason === 'tool_calls') return 'function_call';
  return FINISH_REASONS.has(reason) ? reason : 'stop';
};

/** The stop string, or the decimal id of the token, that ended an answer. */
export const stopReasonOf = ({ stop_reason }: UpstreamChoice): string | null => (stop_reason == null ? null : String(stop_reason));

/** vLLM's newer name, or its older one. */
export const reasoningOf = ({ reasoning, reasoning_content }: UpstreamDelta): string => reasoning ?? reasoning_content ?? '';

/** The usage object of interface 2.3. */
export const usageOf = (usage: UpstreamUsage): Record<string, unknown> => {
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: usage.prompt_tokens_details ?? null,
    completion_tokens_details: usage.completion_tokens_details ?? null,
  };
};

/** A call as far as the runtime has said it. */
export interface CallInProgress {
  id: string;
  name: string;
  arguments: string;
}

/** What a delta adds to a call: the call itself where it has just got its name, and the text of its arguments. */
export interface CallStep {
  index: number;
  opened?: CallInProgress;
  arguments: string;
}

/**
 * Follows the calls of one choice. Runtimes repeat ids and names, leave them out, or send the name after the first arguments; out of it come
 * steps of which the first of a call has its id and name, and the others only arguments.
 * @param idPrefix of ids where the runtime gives none
 */
export const createCallReader = (idPrefix: string) => {
  const calls = new Map<number, CallInProgress>();
  return {
    take: (deltas: readonly UpstreamToolCall[]): CallStep[] =>
      deltas.flatMap((delta, position) => {
        const index = delta.index ?? position;
        const text = delta.function?.arguments ?? '';
        const name = delta.function?.name ?? '';
        const known = calls.get(index);
        const call = known ?? { id: delta.id || `${idPrefix}${index}`, name: '', arguments: '' };
        if (!known) calls.set(index, call);
        const wasOpen = call.name !== '';
        if (!wasOpen) call.name = name;
        call.arguments += text;
        if (!wasOpen) return call.name ? [{ index, opened: call, arguments: call.arguments }] : [];
        return text ? [{ index, arguments: text }] : [];
      }),
    /** The calls that have a name, in their order. */
    calls: (): CallInProgress[] =>
      [...calls]
        .sort(([a], [b]) => a - b)
        .map(([, call]) => call)
        .filter(({ name }) => name !== ''),
  };
};

/** Unique within a reply, and the same however often it is made. */
export const callIdPrefix = ({ id }: ReplyFacts, choice: number): string => `call_${id.slice(id.indexOf('-') + 1)}_${choice}_`;
