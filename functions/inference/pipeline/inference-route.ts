import type * as z from 'zod';
import type { ApiError } from '../../../shared/http/errors.ts';
import type { Model, ModelTask } from '../../../shared/models/model.ts';
import type { ChatPrompt, Prompt } from '../../../shared/tokens/prompt.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { BodyFacts } from '../../../shared/upstream/request-body.ts';
import type { WindowRequest } from './fit-window.ts';

/** The fields of every inference request; the pipeline reads no others. */
export interface InferenceRequest {
  model: string;
  stream?: boolean | null | undefined;
  user?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  prompt_cache_isolation_key?: string | null | undefined;
  perf_metrics_in_response?: boolean | null | undefined;
  /** The answer begins with the prompt, which is not output of the model. */
  echo?: boolean | null | undefined;
  /** The answer has token ids. Runtimes then echo the ids of the prompt instead of its text. */
  return_token_ids?: boolean | null | undefined;
}

/** The facts for the runtime's body, in addition to the caller's fields. */
export interface UpstreamFacts<P extends Prompt = ChatPrompt> extends BodyFacts {
  prompt: P;
}

/** The facts for the reply, in addition to the runtime's chunks. */
export interface ReplyFacts {
  id: string;
  /** The tokens of the prompt: exact if they were counted, otherwise estimated. */
  promptTokens?: number;
  /** True if the end of the model's context window limits the answer more than the request and the deadline do. */
  endsAtWindow?: () => boolean;
  /** Seconds since the epoch. */
  created: number;
  /** The published name, whatever the runtime calls the model. */
  model: string;
  requestId: string;
  organization: string;
  /** False if the key or the request forbids storing the answer. */
  mayStore: boolean;
  /** Returns the measurements of a complete answer; absent if the caller didn't request them. */
  perf?: () => Record<string, unknown>;
}

// Called after the settlement and before the last byte. Returns the id of the item in which the result can be stored
// under an idempotency key; undefined: it must not be stored.
type StoreReply = (usage: UpstreamUsage) => Promise<string | undefined>;

/**
 * Writes a reply as server-sent events: for each batch of chunks, for the usage after the last one, and for the end.
 */
export interface StreamedReply {
  take: (chunks: readonly UpstreamChunk[]) => string;
  usage: (usage: UpstreamUsage) => string;
  end: () => string;
  /** The events that report a failure; without it the pipeline sends an `error` event. */
  fail?: (error: ApiError, requestId: string) => string;
  store?: StoreReply;
  /** Sent to a caller that waits for the next event. Default: a comment. */
  keepAlive?: string;
}

/** Writes a reply as one object. */
export interface WholeReply {
  take: (chunks: readonly UpstreamChunk[]) => void;
  whole: (usage: UpstreamUsage) => Record<string, unknown>;
  store?: StoreReply;
}

/**
 * An inference route: a schema and two mappers, from the request to the runtime's body and from the runtime's chunks to
 * the reply.
 */
export interface InferenceRoute<Request extends InferenceRequest, P extends Prompt = ChatPrompt> {
  schema: z.ZodType<Request>;
  /** The task of the models that it can call. Default: `generate`. */
  task?: ModelTask;
  /**
   * Reads the objects that a request refers to, after authentication and before admission. May return another request.
   * @throws 4xx
   */
  resolve?: (request: Request, caller: { organization: string }) => Promise<Request>;
  /** True if `resolve` reads stored objects for this request. */
  refersToStored?: (request: Request) => boolean;
  /** The field in which a request names its fallbacks; `of` returns undefined if it doesn't have the field. */
  fallbacks?: { field: string; of: (request: Request) => readonly string[] | undefined };
  /** The caller's limit for the tokens of each choice; undefined if the request has none. */
  maxTokens: (request: Request) => number | undefined;
  /** `maxTokens` is resolved. @throws 400 if the request asks for something that the model can't do */
  checkSupport: (request: Request, model: Model, maxTokens: number) => void;
  /** The fields that were accepted and have no effect. */
  ignored: (request: Request, model: Model) => string[];
  /** True for the route's own field names. Others are the caller's text, which events must not have. */
  isDocumented: (name: string) => boolean;
  /** False if the caller forbids storing the answer. Absent: never false. */
  mayStore?: (request: Request) => boolean;
  choices: (request: Request) => number;
  window: (request: Request, model: Model, maxTokens: number) => WindowRequest;
  toPrompt: (request: Request, model: Model) => P;
  toUpstream: (request: Request, model: Model, facts: UpstreamFacts<P>) => Record<string, unknown>;
  replyId: (requestId: string) => string;
  toStream: (request: Request, facts: ReplyFacts, model: Model) => StreamedReply;
  toWhole: (request: Request, facts: ReplyFacts, model: Model) => WholeReply;
}
