import type { ResponseStream } from './response-stream.ts';

// Lambda's own runtime marks streamed handlers in this way.
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');
const STREAM_RESPONSE = 'response';

type Handler = (...parameters: unknown[]) => unknown;

/**
 * Sets the global `awslambda` that Lambda's Node runtime provides: `streamifyResponse` and `HttpResponseStream.from`.
 */
export const installAwsLambda = (): void => {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: (handler: Handler): Handler => Object.assign(handler, { [STREAMING]: STREAM_RESPONSE }),
      HttpResponseStream: {
        from: (stream: ResponseStream, prelude: unknown): ResponseStream => {
          stream.setPrelude(prelude);
          return stream;
        },
      },
    },
  });
};

/** True if the handler is wrapped in `streamifyResponse`. */
export const isStreaming = (handler: object): boolean => Reflect.get(handler, STREAMING) === STREAM_RESPONSE;
