import { textOf, type UpstreamChoice, type UpstreamToolCall, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';

/** What the caller's request decides about the form of its reply. */
export interface ReplyForm {
  includeUsage: boolean;
  tokenIds: boolean;
  /** The deprecated `function_call` in place of `tool_calls`. */
  isLegacy: boolean;
}

const FINISH_REASONS = new Set(['stop', 'length', 'content_filter']);

/** A runtime's finish reason in OpenAI's words; one that OpenAI does not know, or a call that was never made, is `stop`. */
export const finishReasonOf = (reason: string, { isLegacy }: ReplyForm, hasCalls: boolean): string => {
  if (reason === 'tool_calls' || reason === 'function_call') return !hasCalls ? 'stop' : isLegacy ? 'function_call' : 'tool_calls';
  return FINISH_REASONS.has(reason) ? reason : 'stop';
};

/** The stop string, or the decimal id of the token, that ended an answer. */
export const stopReasonOf = ({ stop_reason }: UpstreamChoice): string | null => (stop_reason == null ? null : String(stop_reason));

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

/** A call under the index that its runtime gave it, if any. */
type KeyedCall = CallInProgress & { key: number | undefined };

/** What a delta adds to a call: the call itself where it has just got its name, and the text of its arguments. */
export interface CallStep {
  index: number;
  opened?: CallInProgress;
  arguments: string;
}

/**
 * Follows the calls of one choice. Runtimes repeat ids and names, leave ids and indexes out, send the name after the first arguments, or
 * whole calls one after the other; out of it come steps of which the first of a call has its id and name, and the others only arguments.
 * @param idPrefix of ids where the runtime gives none
 */
export const createCallReader = (idPrefix: string) => {
  /** Every call in the order of its first word. */
  const calls: KeyedCall[] = [];

  /** The call that a delta speaks of: another id with a name is another call, whatever the index. */
  const callOf = ({ index, id, function: called }: UpstreamToolCall): KeyedCall | undefined => {
    const key = index ?? undefined;
    const candidate = key === undefined ? calls.at(-1) : calls.findLast((call) => call.key === key);
    if (!candidate) return undefined;
    const isAnother = id && candidate.id !== id && (called?.name || key === undefined) && candidate.name !== '';
    return isAnother ? undefined : candidate;
  };

  const open = ({ index, id }: UpstreamToolCall): KeyedCall => {
    const call = { key: index ?? undefined, id: id || `${idPrefix}${calls.length}`, name: '', arguments: '' };
    calls.push(call);
    return call;
  };

  return {
    take: (deltas: readonly UpstreamToolCall[]): CallStep[] =>
      deltas.flatMap((delta) => {
        const call = callOf(delta) ?? open(delta);
        const index = calls.indexOf(call);
        const given = delta.function?.arguments;
        const text = typeof given === 'object' && given !== null ? JSON.stringify(given) : textOf(given);
        const wasOpen = call.name !== '';
        if (!wasOpen) call.name = textOf(delta.function?.name);
        call.arguments += text;
        if (!wasOpen) return call.name ? [{ index, opened: call, arguments: call.arguments }] : [];
        return text ? [{ index, arguments: text }] : [];
      }),
    /** The calls that have a name, in their order. */
    calls: (): CallInProgress[] => calls.filter(({ name }) => name !== ''),
  };
};

/** Unique within a reply, and the same however often it is made. */
export const callIdPrefix = ({ id }: ReplyFacts, choice: number): string => `call_${id.slice(id.indexOf('-') + 1)}_${choice}_`;
