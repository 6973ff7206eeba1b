import type { Writable } from 'node:stream';
import type core from '@middy/core';
import type { PluginExecutionMode } from '@middy/core';
import type { Context } from 'aws-lambda';
import type { ApiEvent } from '../http/api-event.ts';
import type { Reply } from '../http/reply.ts';

/** A body that writes itself to its caller, and ends the stream. */
export interface WrittenBody {
  /** Resolves when everything for the reply is done, however it ended. */
  writeTo(caller: Writable): Promise<void>;
}

type WrittenReply = Reply<string | WrittenBody>;
type Request = core.Request<ApiEvent, WrittenReply>;
type Plugin = Required<Pick<core.PluginObject, 'requestStart' | 'requestEnd'>>;

// Beneath its types, middy lets an execution mode begin a request and run it through the middlewares.
interface Lifecycle {
  middyRequest: (event: ApiEvent, context: Context) => Request;
  runRequest: (request: Request, ...parts: unknown[]) => Promise<WrittenReply>;
}

/** Ends a reply with its last text. Resolves also if the caller has left: the request is settled. */
export const endReply = (caller: Writable, last?: string): Promise<void> =>
  new Promise((resolve) => {
    caller.once('close', resolve);
    caller.once('error', () => resolve());
    if (last === undefined) caller.end(resolve);
    else caller.end(last, resolve);
  });

const executionMode = (
  { middyRequest, runRequest }: Lifecycle,
  befores: unknown,
  initial: unknown,
  afters: unknown,
  onErrors: unknown,
  plugin: Plugin,
) => {
  let handle = initial;
  const streamed = awslambda.streamifyResponse<ApiEvent, void>(async (event, stream, context) => {
    const request = middyRequest(event, context);
    plugin.requestStart(request);
    const { body, ...head } = await runRequest(request, befores, handle, afters, onErrors, plugin);
    const caller = awslambda.HttpResponseStream.from(stream, { ...head });
    // The first write sends the head; ending the stream alone would not.
    caller.write(typeof body === 'string' ? body : '');
    await (typeof body === 'string' ? endReply(caller) : body.writeTo(caller));
    await plugin.requestEnd(request);
  });
  const composed = Object.assign(streamed, {
    handler: (handler: unknown) => {
      handle = handler;
      return composed;
    },
  });
  return composed;
};

/**
 * middy's execution mode of a function with response streaming
 * (https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html), whose replies are written directly
 * to the response stream. middy's own `executionModeStreamifyResponse` pipes a Readable; docs/decisions/0067 compares
 * them.
 */
export const executionModeWrittenReplies = executionMode as unknown as PluginExecutionMode;
