/** A chunk of a runtime's reply: only the fields that we use, with all the variations of runtimes. */
export interface UpstreamChunk {
  /** The body of a reply that is not streamed: it is the only chunk of its invocation. */
  body?: Buffer;
  choices?: UpstreamChoice[] | null;
  usage?: UpstreamUsage | null;
  prompt_token_ids?: number[] | null;
  /** A runtime's own measurements. */
  metrics?: Record<string, unknown> | null;
}

export interface UpstreamChoice {
  index?: number;
  delta?: UpstreamDelta | null;
  /** Instead of `delta`, if a runtime does not stream. */
  message?: UpstreamDelta | null;
  finish_reason?: string | null;
  /** The stop string that ended the answer, or the id of the stop token. */
  stop_reason?: string | number | null;
  logprobs?: { content?: unknown[] | null } | null;
  token_ids?: number[] | null;
  /** In plain completions, instead of a delta. */
  text?: string | null;
  prompt_token_ids?: number[] | null;
}

export interface UpstreamDelta {
  role?: string | null;
  content?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: UpstreamToolCall[] | null;
}

export interface UpstreamToolCall {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | null } | null;
}

export interface UpstreamUsage {
  /** Read with `tokenCount`. */
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: Record<string, unknown> | null;
  completion_tokens_details?: Record<string, unknown> | null;
}

/** A runtime's count of tokens; undefined if it is none: runtimes can send text, fractions and negative numbers. */
export const tokenCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Text, if it is text: runtimes have sent lists and objects in its place. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** vLLM's newer name, or its older one. */
export const reasoningOf = ({ reasoning, reasoning_content }: UpstreamDelta): string => textOf(reasoning) || textOf(reasoning_content);

/** The chunk has a part of the answer: text, reasoning or calls. */
export const isOutput = ({ choices }: UpstreamChunk): boolean =>
  (choices ?? []).some(({ delta }) => delta && (delta.content || reasoningOf(delta) || delta.tool_calls?.length));
