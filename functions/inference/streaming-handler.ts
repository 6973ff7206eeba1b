import { type ApiEvent, identify } from '../../shared/http/api-event.ts';
import { toErrorReply } from '../../shared/http/error-replies.ts';
import type { Serve } from './pipeline/dependencies.ts';

/**
 * The handler of a Lambda function with response streaming (https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html). Replies are
 * written directly to the response stream.
 */
export const streamingHandler = (serve: Serve) =>
  awslambda.streamifyResponse<ApiEvent, void>(async (event, stream, context) => {
    identify(event);
    const { body, ...head } = await replyTo(serve, event, context);
    const caller = awslambda.HttpResponseStream.from(stream, { ...head });
    // The first write sends the head; ending the stream alone would not.
    caller.write(typeof body === 'string' ? body : '');
    if (typeof body !== 'string') return body.writeTo(caller);
    await new Promise<void>((resolve) => {
      // Also if the caller has disconnected: the request is settled.
      caller.once('close', resolve);
      caller.once('error', () => resolve());
      caller.end(resolve);
    });
  });

const replyTo = async (serve: Serve, ...[event, clock]: Parameters<Serve>): ReturnType<Serve> => {
  try {
    return await serve(event, clock);
  } catch (error) {
    return toErrorReply(error, event);
  }
};
