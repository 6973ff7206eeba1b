import type { PromptMessage, TextPrompt } from '../tokens/prompt.ts';

/** What the gateway adds to every request to a runtime. */
export interface RequestFacts {
  /** The name that the container knows the model by; '' means its own. */
  containerModel: string;
  maxTokens: number;
  /** Finds the request in the container's log. */
  requestId: string;
  /** Separates one tenant's cached prompts from another's. */
  cacheSalt: string;
}

/**
 * The body of a request to a runtime. It always asks for a stream with its usage and has a bound on the completion, because the bill and the
 * reservation rest on both.
 * @param more the caller's own properties
 */
export const requestBody = (
  { containerModel, maxTokens, requestId, cacheSalt }: RequestFacts,
  prompt: { messages: PromptMessage[] } | { prompt: TextPrompt['texts'] | TextPrompt['texts'][number] },
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  model: containerModel,
  ...prompt,
  max_tokens: maxTokens,
  ...more,
  cache_salt: cacheSalt,
  stream: true,
  stream_options: { include_usage: true },
  request_id: requestId,
});
