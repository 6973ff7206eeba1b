import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';

/** The seconds that a request waits for capacity; absent: it doesn't wait. */
export const WAIT_HEADER = 'X-Wait-For-Capacity';

/** For a response without streaming, which must be complete within 280 s. */
export const MAX_WAIT_SECONDS = 280;
/** For a stream, which must end within 580 s. */
export const MAX_STREAMED_WAIT_SECONDS = 560;

/** 400: the header is not a number of seconds, or too long. */
export const invalidWait = (): InvalidRequest =>
  new InvalidRequest({
    param: WAIT_HEADER,
    code: 'invalid_value',
    message: `The header '${WAIT_HEADER}' must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}, or to ${MAX_STREAMED_WAIT_SECONDS} with stream: true.`,
  });

const SECONDS = /^\d{1,4}$/;

/**
 * The milliseconds that the request waits if its model has no capacity; 0 if the model isn't made of a deployment.
 * @throws 400 for an invalid header, whatever the model is made of
 */
export const waitMsOf = (event: ApiEvent, { deployment }: Pick<Model, 'deployment'>, isStreamed: boolean): number => {
  const header = headerOf(event, WAIT_HEADER.toLowerCase())?.trim();
  if (header === undefined) return 0;
  const seconds = Number(header);
  if (!SECONDS.test(header) || seconds > (isStreamed ? MAX_STREAMED_WAIT_SECONDS : MAX_WAIT_SECONDS)) throw invalidWait();
  return deployment ? seconds * 1_000 : 0;
};
