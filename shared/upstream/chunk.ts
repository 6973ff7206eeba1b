/** What a runtime's stream carries: only the fields that are used, each as loose as runtimes are. */
export interface UpstreamChunk {
  choices?: UpstreamChoice[] | null;
  usage?: UpstreamUsage | null;
}

export interface UpstreamChoice {
  index?: number;
  delta?: { role?: string | null; content?: string | null } | null;
  finish_reason?: string | null;
}

export interface UpstreamUsage {
  prompt_tokens?: number;
  completion_tokens?: number | null;
  prompt_tokens_details?: Record<string, unknown> | null;
}
