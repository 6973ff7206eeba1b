import type { Model } from '../../../shared/models/model.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';
import type { ResponsesRequest } from './request.ts';

/** The sampling that a response reports. */
export interface Sampling {
  temperature: number;
  top_p: number;
}

/** The facts of a chat reply, and the sampling. */
export interface ResponseFacts extends ReplyFacts {
  sampling: Sampling;
}

/**
 * The sampling of a response: the request's own, or the model's default. It is always sent to the runtime, so that the
 * response reports what was in effect (decision 0028).
 */
export const samplingOf = (
  { body }: ResponsesRequest,
  { default_temperature, default_top_p }: Pick<Model, 'default_temperature' | 'default_top_p'>,
): Sampling => ({ temperature: body.temperature ?? default_temperature, top_p: body.top_p ?? default_top_p });
