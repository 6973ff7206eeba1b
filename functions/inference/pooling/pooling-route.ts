import type * as z from 'zod';
import type { Model, ModelTask } from '../../../shared/models/model.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';

/** The fields of every request for vectors or scores; all others are the route's. */
export interface PoolingRequest {
  model: string;
  user?: string | null | undefined;
}

/** One of the calls into which a request is split: a part of its texts, in order. */
export interface PoolingCall {
  /** The index of the call's first text in the request. */
  from: number;
  texts: TextPrompt['texts'];
  /** The container's name for the model; '' for its default. */
  containerModel: string;
  /** Different for each call of a request. */
  requestId: string;
  cacheSalt: string;
}

/** The results of one call, in the order of its texts. */
export interface PoolingPart<Result> {
  results: Result[];
  /** As the runtime counted; undefined if it did not. */
  promptTokens: number | undefined;
}

/** How a runtime takes the requests of a route, and how it replies. */
export interface PoolingDialect<Request, Result> {
  /** The number of texts that one call can have. */
  maxTexts: (request: Request, model: Model) => number;
  toBody: (request: Request, model: Model, call: PoolingCall) => Record<string, unknown>;
  /** @throws UnusableReply if the reply is not as the runtime should make it */
  read: (reply: Buffer, request: Request, model: Model, call: PoolingCall) => PoolingPart<Result>;
}

/** The facts for the reply, in addition to the results. */
export interface PoolingReply {
  requestId: string;
  /** The published name, whatever the runtime calls the model. */
  model: string;
  promptTokens: number;
}

/**
 * A route that answers with one result for each text, such as a vector or a score: a schema, the runtimes' dialects,
 * and the reply.
 */
export interface PoolingRoute<Request extends PoolingRequest, Result> {
  task: Exclude<ModelTask, 'generate'>;
  schema: z.ZodType<Request>;
  /** @throws 400 if the request asks for something that the model can't do */
  checkSupport: (request: Request, model: Model) => void;
  /** The fields that were accepted and have no effect. */
  ignored: (request: Request, model: Model) => string[];
  /** True for the route's own field names. */
  isDocumented: (name: string) => boolean;
  /** The texts, each of which has one result. */
  toPrompt: (request: Request) => TextPrompt;
  /** The name of a text in the request, such as `input[3]`. */
  nameOf: (request: Request, index: number) => string;
  dialectOf: (model: Model) => PoolingDialect<Request, Result>;
  /** False if the payload log must not have the results. */
  logsResults: boolean;
  /** The JSON of the reply, in pieces that end between two tokens. `results` has one entry for each text, in order. */
  write: (request: Request, results: readonly Result[], reply: PoolingReply) => Iterable<string>;
  /** Returns the memory of results that were written. Absent: they are small. */
  free?: (results: readonly Result[]) => void;
}
