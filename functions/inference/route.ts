import type * as z from 'zod';
import type { ReplyFacts } from '../../shared/chat/reply.ts';
import type { UpstreamFacts } from '../../shared/chat/to-upstream.ts';
import type { Model } from '../../shared/models/model.ts';
import type { WindowRequest } from '../../shared/tokens/fit-window.ts';
import type { ChatPrompt } from '../../shared/tokens/prompt.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../shared/upstream/chunk.ts';

/** What every inference request has, whatever its shape; the pipeline reads nothing else. */
export interface InferenceRequest {
  model: string;
  stream?: boolean | null | undefined;
  user?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  prompt_cache_isolation_key?: string | null | undefined;
  perf_metrics_in_response?: boolean | null | undefined;
}

/** An inference route is a schema and two mappers: the request to the runtime's, the runtime's chunks to the reply. */
export interface InferenceRoute<Request extends InferenceRequest> {
  path: string;
  schema: z.ZodType<Request>;
  /** Throws a 400 for what this model cannot do. */
  checkSupport: (request: Request, model: Model) => void;
  /** The properties that were accepted and have no effect. */
  ignored: (request: Request, model: Model) => string[];
  /** How many answers are asked for. */
  choices: (request: Request) => number;
  window: (request: Request) => WindowRequest;
  toPrompt: (request: Request, model: Model) => ChatPrompt;
  toUpstream: (request: Request, model: Model, facts: UpstreamFacts) => Record<string, unknown>;
  replyId: (requestId: string) => string;
  /** The reply as a stream: whole server-sent events for a batch of chunks, for what comes after the last of them, and to end with. */
  toStream: (
    request: Request,
    facts: ReplyFacts,
  ) => { take: (chunks: readonly UpstreamChunk[]) => string; usage: (usage: UpstreamUsage) => string; end: () => string };
  /** The reply as one object. */
  toWhole: (
    request: Request,
    facts: ReplyFacts,
  ) => { take: (chunks: readonly UpstreamChunk[]) => void; whole: (usage: UpstreamUsage) => Record<string, unknown> };
}
