import { textOf, tokenCount, type UpstreamChoice, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';

type StopReason = 'end_turn' | 'max_tokens' | 'model_context_window_exceeded' | 'refusal' | 'stop_sequence' | 'tool_use';

interface Stop {
  stop_reason: StopReason;
  /** The stop sequence that ended the answer. */
  stop_sequence: string | null;
}

/**
 * Converts a runtime's finish reason to Anthropic's.
 * @param ending the choice that ended the answer; undefined if the runtime sent none
 * @param hasCalls true if the answer has tool calls
 */
export const stopOf = (ending: UpstreamChoice | undefined, { endsAtWindow }: ReplyFacts, hasCalls: boolean): Stop => {
  const because = (stop_reason: StopReason): Stop => ({ stop_reason, stop_sequence: null });
  if (ending?.finish_reason === 'length') return because(endsAtWindow?.() ? 'model_context_window_exceeded' : 'max_tokens');
  if (ending?.finish_reason === 'content_filter') return because('refusal');
  if (hasCalls) return because('tool_use');
  // The id of a stop token is a number.
  const stop_sequence = textOf(ending?.stop_reason);
  return stop_sequence ? { stop_reason: 'stop_sequence', stop_sequence } : because('end_turn');
};

/** The usage of Anthropic's Messages API: its three counts of input tokens add up to the tokens of the prompt. */
export const usageOf = (usage: UpstreamUsage): Record<string, unknown> => {
  const promptTokens = tokenCount(usage.prompt_tokens) ?? 0;
  const cachedTokens = Math.min(tokenCount(usage.prompt_tokens_details?.cached_tokens) ?? 0, promptTokens);
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: tokenCount(usage.completion_tokens) ?? 0,
    output_tokens_details: { thinking_tokens: tokenCount(usage.completion_tokens_details?.reasoning_tokens) ?? 0 },
    server_tool_use: null,
    service_tier: 'standard',
  };
};

/**
 * The id of a tool call in a reply: the runtime's own, in the characters that Anthropic allows, because other servers
 * reject histories with other ids. Results could not be assigned to two calls with the same id.
 * @param taken the ids of the reply's other calls; the new one is added
 */
export const toolUseId = (id: string, taken: Set<string>): string => {
  const plain = id.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  let unique = plain;
  for (let number = taken.size; taken.has(unique); number++) unique = `${plain}_${number}`;
  taken.add(unique);
  return unique;
};
