import type * as z from 'zod';
import type { ApiError } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt, Prompt } from '../../../shared/tokens/prompt.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts } from '../chat/reply.ts';
import type { UpstreamFacts } from '../chat/to-upstream.ts';
import type { WindowRequest } from './fit-window.ts';

/** What every inference request has, whatever its shape; the pipeline reads nothing else. */
export interface InferenceRequest {
  model: string;
  stream?: boolean | null | undefined;
  user?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  prompt_cache_isolation_key?: string | null | undefined;
  perf_metrics_in_response?: boolean | null | undefined;
  /** The answer begins with the prompt, which is not written by the model. */
  echo?: boolean | null | undefined;
}

/** What a reply leaves behind: called after the request is settled and before the last of it leaves. */
type Keep = (usage: UpstreamUsage) => Promise<void>;

/** A reply as a stream: whole server-sent events for a batch of chunks, for what comes after the last of them, and to end with. */
export interface StreamedReply {
  take: (chunks: readonly UpstreamChunk[]) => string;
  usage: (usage: UpstreamUsage) => string;
  end: () => string;
  /** The events that tell a failure; without it an `error` event. */
  fail?: (error: ApiError, requestId: string) => string;
  keep?: Keep;
}

/** A reply as one object. */
export interface WholeReply {
  take: (chunks: readonly UpstreamChunk[]) => void;
  whole: (usage: UpstreamUsage) => Record<string, unknown>;
  keep?: Keep;
}

/** An inference route is a schema and two mappers: the request to the runtime's, the runtime's chunks to the reply. */
export interface InferenceRoute<Request extends InferenceRequest, P extends Prompt = ChatPrompt> {
  path: string;
  schema: z.ZodType<Request>;
  /** What a request needs from elsewhere: after the key is known to be right, before anything is admitted. May give another request. Throws 4xx. */
  resolve?: (request: Request, caller: { organization: string }) => Promise<Request>;
  /** Throws a 400 for what this model cannot do. */
  checkSupport: (request: Request, model: Model) => void;
  /** The properties that were accepted and have no effect. */
  ignored: (request: Request, model: Model) => string[];
  /** How many answers are asked for. */
  choices: (request: Request) => number;
  window: (request: Request, model: Model) => WindowRequest;
  toPrompt: (request: Request, model: Model) => P;
  toUpstream: (request: Request, model: Model, facts: UpstreamFacts<P>) => Record<string, unknown>;
  replyId: (requestId: string) => string;
  toStream: (request: Request, facts: ReplyFacts) => StreamedReply;
  toWhole: (request: Request, facts: ReplyFacts) => WholeReply;
}
