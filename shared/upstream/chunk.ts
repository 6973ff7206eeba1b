/** What a runtime's stream carries: only the fields that are used, each as loose as runtimes are. */
export interface UpstreamChunk {
  choices?: UpstreamChoice[] | null;
  usage?: UpstreamUsage | null;
}

export interface UpstreamChoice {
  index?: number;
  delta?: UpstreamDelta | null;
  /** In place of `delta` where a runtime does not stream. */
  message?: UpstreamDelta | null;
  finish_reason?: string | null;
}

export interface UpstreamDelta {
  role?: string | null;
  content?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { function?: { arguments?: string | null } | null }[] | null;
}

export interface UpstreamUsage {
  prompt_tokens?: number;
  completion_tokens?: number | null;
  prompt_tokens_details?: Record<string, unknown> | null;
}
