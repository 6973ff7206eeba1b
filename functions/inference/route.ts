import type * as z from 'zod';
import type { ReplyFacts } from '../../shared/chat/from-upstream.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../shared/upstream/chunk.ts';

/** What every inference request has, whatever its shape; the pipeline reads nothing else. */
export interface InferenceRequest {
  model: string;
  stream?: boolean | null | undefined;
  user?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
}

/** An inference route is a schema and two mappers: the request to the runtime's, the runtime's chunks to the reply. */
export interface InferenceRoute<Request extends InferenceRequest> {
  path: string;
  schema: z.ZodType<Request>;
  /** The properties that have an effect. */
  fields: ReadonlySet<string>;
  /** The most tokens that the caller asks for, if it says. */
  maxTokens: (request: Request) => number | undefined;
  promptBytes: (request: Request) => number;
  toUpstream: (request: Request, facts: { model: string; maxTokens: number; requestId: string }) => Record<string, unknown>;
  replyId: (requestId: string) => string;
  /** The reply as a stream: whole server-sent events for a batch of chunks, for the usage, and to end with. */
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
