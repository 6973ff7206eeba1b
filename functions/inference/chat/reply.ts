import { textOf, tokenCount, type UpstreamChoice, type UpstreamToolCall, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';

/** The form of a response that its request asks for. */
export interface ReplyForm {
  includeUsage: boolean;
  tokenIds: boolean;
  /** True if the response has the deprecated `function_call` instead of `tool_calls`. */
  isLegacy: boolean;
}

// An answer that ends so was cut off, perhaps in its last call.
const CUT_OFF = ['length', 'content_filter'];

/**
 * Converts a runtime's finish reason to OpenAI's. Unknown reasons, and one for calls where there are none, become
 * `stop`.
 */
export const finishReasonOf = (reason: string, { isLegacy }: ReplyForm, hasCalls: boolean): string => {
  if (reason === 'tool_calls' || reason === 'function_call') return !hasCalls ? 'stop' : isLegacy ? 'function_call' : 'tool_calls';
  return CUT_OFF.includes(reason) ? reason : 'stop';
};

/** The stop string that ended an answer, or the decimal id of the stop token. */
export const stopReasonOf = ({ stop_reason }: UpstreamChoice): string | null => (stop_reason == null ? null : String(stop_reason));

/** The usage object of interface 2.3. Details that the runtime doesn't report are left out. */
export const usageOf = (usage: UpstreamUsage): Record<string, unknown> => {
  const prompt = tokenCount(usage.prompt_tokens) ?? 0;
  const completion = tokenCount(usage.completion_tokens) ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(usage.prompt_tokens_details && { prompt_tokens_details: usage.prompt_tokens_details }),
    ...(usage.completion_tokens_details && { completion_tokens_details: usage.completion_tokens_details }),
  };
};

// A tool call as far as the runtime has sent it.
interface CallInProgress {
  id: string;
  name: string;
  arguments: string;
}

// `key` and `given` are the index and the id from the runtime, if it sent them.
type KeyedCall = CallInProgress & { key: number | undefined; given: string | null | undefined };

/** One step of a call: the call itself when its name is complete, and more text of its arguments. */
export interface CallStep {
  index: number;
  opened?: CallInProgress;
  arguments: string;
}

/**
 * Reads the tool calls of one choice. Runtimes repeat or omit ids and indexes, send the name after the first arguments,
 * or send whole calls in a row. The first resulting step of a call has its id and name, the others only arguments.
 * @param idPrefix the prefix of generated ids, for calls without an id or with that of another call
 */
export const createCallReader = (idPrefix: string) => {
  const calls: KeyedCall[] = [];
  // Only these reach the caller: their order is that of their indexes, which have no gaps.
  const named: KeyedCall[] = [];

  // A different id together with a name begins another call, whatever the index.
  const callOf = ({ index, id, function: called }: UpstreamToolCall): KeyedCall | undefined => {
    const key = index ?? undefined;
    const candidate = key === undefined ? calls.at(-1) : calls.findLast((call) => call.key === key);
    if (!candidate) return undefined;
    const isAnother = id && candidate.given !== id && (called?.name || key === undefined) && candidate.name !== '';
    return isAnother ? undefined : candidate;
  };

  const open = ({ index, id }: UpstreamToolCall): KeyedCall => {
    // Results couldn't be assigned to two calls with the same id.
    const isUsable = id && calls.every((call) => call.id !== id);
    const call = { key: index ?? undefined, given: id, id: isUsable ? id : `${idPrefix}${calls.length}`, name: '', arguments: '' };
    calls.push(call);
    return call;
  };

  return {
    /** @param finishReason if the answer ends: unless it was cut off, its calls without arguments get `{}` */
    take: (deltas: readonly UpstreamToolCall[], finishReason?: string | null): CallStep[] => {
      const steps = deltas.flatMap((delta): CallStep[] => {
        const call = callOf(delta) ?? open(delta);
        const given = delta.function?.arguments;
        const text = typeof given === 'object' && given !== null ? JSON.stringify(given) : textOf(given);
        call.arguments += text;
        if (call.name) return text ? [{ index: named.indexOf(call), arguments: text }] : [];
        call.name = textOf(delta.function?.name);
        return call.name ? [{ index: named.push(call) - 1, opened: call, arguments: call.arguments }] : [];
      });
      if (!finishReason || CUT_OFF.includes(finishReason)) return steps;
      // Clients parse arguments as JSON.
      for (const [index, call] of named.entries()) {
        if (call.arguments.trim()) continue;
        call.arguments += '{}';
        steps.push({ index, arguments: '{}' });
      }
      return steps;
    },
    /** The calls that have a name, in the order of their indexes. */
    calls: (): readonly CallInProgress[] => named,
  };
};

/** A prefix of call ids: unique within a response, and the same if the response is created again. */
export const callIdPrefix = ({ id }: ReplyFacts, choice: number): string => `call_${id.slice(id.indexOf('-') + 1)}_${choice}_`;
