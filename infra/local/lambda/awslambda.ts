import type { ResponseStream } from './response-stream.ts';

// The marks by which Lambda's own runtime knows a streamed handler.
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');
const STREAM_RESPONSE = 'response';

type Handler = (...parameters: unknown[]) => unknown;

/** Sets the global `awslambda` that Lambda's Node runtime gives to functions: `streamifyResponse` and `HttpResponseStream.from`. */
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

/** Whether a handler went through `streamifyResponse`. */
export const isStreaming = (handler: object): boolean => Reflect.get(handler, STREAMING) === STREAM_RESPONSE;
