import { randomBytes, randomUUID } from 'node:crypto';

export interface RequestIds {
  requestId: string;
  /** Base64, 16 characters, like the `x-amz-apigw-id` of API Gateway. */
  extendedRequestId: string;
}

const EXTENDED_ID_BYTES = 11;

/** Creates the ids of a request. */
export const newRequestIds = (): RequestIds => ({
  requestId: randomUUID(),
  extendedRequestId: randomBytes(EXTENDED_ID_BYTES).toString('base64'),
});
