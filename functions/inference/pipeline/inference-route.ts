import type * as z from 'zod';
import type { ApiError } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt, Prompt } from '../../../shared/tokens/prompt.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { BodyFacts } from '../../../shared/upstream/request-body.ts';
import type { WindowRequest } from './fit-window.ts';

/** What every inference request has, whatever its shape; the pipeline reads nothing else. */
export interface InferenceRequest {
  model: string;
  stream?: boolean | null | undefined;
  user?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  prompt_cache_isolation_key?: string | null | undefined;
  perf_metrics_in_response?: boolean | null | undefined;
  /** The answer begins with the prompt, which is not output of the model. */
  echo?: boolean | null | undefined;
}

/** What a route needs for the runtime's body, in addition to the caller's fields. */
export interface UpstreamFacts<P extends Prompt = ChatPrompt> extends BodyFacts {
  prompt: P;
}

/** What a route needs for its reply, in addition to the runtime's chunks. */
export interface ReplyFacts {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** The published name, whatever the runtime calls the model. */
  model: string;
  requestId: string;
  organization: string;
  /** Whether the answer may be stored: neither the key nor the request forbids it. */
  mayStore: boolean;
  /** The measurements of a complete answer, if the caller requested them. */
  perf?: () => Record<string, unknown>;
}

/**
 * Stores the reply. The pipeline calls it after the settlement and before it sends the last byte. Returns the id of the item in which the result can
 * be stored under an idempotency key; undefined: the result must not be stored.
 */
type StoreReply = (usage: UpstreamUsage) => Promise<string | undefined>;

/** Writes a reply as server-sent events: for each batch of chunks, for the usage after the last one, and for the end. */
export interface StreamedReply {
  take: (chunks: readonly UpstreamChunk[]) => string;
  usage: (usage: UpstreamUsage) => string;
  end: () => string;
  /** The events that report a failure; without it the pipeline sends an `error` event. */
  fail?: (error: ApiError, requestId: string) => string;
  store?: StoreReply;
}

/** Writes a reply as one object. */
export interface WholeReply {
  take: (chunks: readonly UpstreamChunk[]) => void;
  whole: (usage: UpstreamUsage) => Record<string, unknown>;
  store?: StoreReply;
}

/** An inference route: a schema and two mappers, from the request to the runtime's body and from the runtime's chunks to the reply. */
export interface InferenceRoute<Request extends InferenceRequest, P extends Prompt = ChatPrompt> {
  schema: z.ZodType<Request>;
  /** Reads what a request refers to, after the key is authenticated and before admission. May return another request. Throws 4xx. */
  resolve?: (request: Request, caller: { organization: string }) => Promise<Request>;
  /** Whether `resolve` reads something that was stored earlier. */
  refersToStored?: (request: Request) => boolean;
  /** The most tokens that the caller asks for in each choice; undefined: the request doesn't say. */
  maxTokens: (request: Request) => number | undefined;
  /** Throws a 400 for what this model can't do. `maxTokens` is resolved. */
  checkSupport: (request: Request, model: Model, maxTokens: number) => void;
  /** The fields that were accepted and have no effect. */
  ignored: (request: Request, model: Model) => string[];
  /** Whether a name is one of the route's fields. Others are the caller's own text, which events don't have. */
  isDocumented: (name: string) => boolean;
  /** Whether the caller allows the answer to be stored. Absent: always. */
  mayStore?: (request: Request) => boolean;
  choices: (request: Request) => number;
  window: (request: Request, model: Model, maxTokens: number) => WindowRequest;
  toPrompt: (request: Request, model: Model) => P;
  toUpstream: (request: Request, model: Model, facts: UpstreamFacts<P>) => Record<string, unknown>;
  replyId: (requestId: string) => string;
  toStream: (request: Request, facts: ReplyFacts, model: Model) => StreamedReply;
  toWhole: (request: Request, facts: ReplyFacts, model: Model) => WholeReply;
}
