import { PassThrough } from 'node:stream';
import type { ReplyBody } from '../../../functions/inference/pipeline/reply-body.ts';

/** A streamed reply as its caller reads it. Destroying the stream disconnects the caller. */
export interface OpenReply extends AsyncDisposable {
  stream: PassThrough;
  /** Resolves when the function has done everything for the reply. */
  done: Promise<void>;
}

/** Starts to write a streamed reply. */
export const openReply = (body: ReplyBody): OpenReply => {
  const stream = new PassThrough();
  const done = body.writeTo(stream);
  return {
    stream,
    done,
    [Symbol.asyncDispose]: async () => {
      stream.destroy();
      await done;
    },
  };
};
