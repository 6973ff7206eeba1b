import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { toErrorBody } from '../requests/errors.ts';
import type { Fault } from './control.ts';

export const DONE = 'data: [DONE]\n\n';

/** Returns an SSE event with the value as JSON, or as is if it is a string. */
export const toEvent = (value: unknown): string => `data: ${toText(value)}\n\n`;

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The fields that all chunks of one response share. `created` is in Unix seconds. */
export interface ReplyHead {
  id: string;
  created: number;
  model: string;
}

export interface Usage {
  prompt_tokens: number;
  total_tokens: number;
  completion_tokens: number;
}

export const randomHex = (): string => randomUUID().replaceAll('-', '');

/** Creates the head of a response. Its id is the prefix plus the client's request id, or a random one. */
export const createReplyHead = (prefix: string, model: string, requestId: string | undefined): ReplyHead => ({
  id: `${prefix}-${requestId ?? randomHex()}`,
  created: Math.floor(Date.now() / 1_000),
  model,
});

/** Returns vLLM's usage object. */
export const toUsage = (promptTokens: number, completionTokens: number): Usage => ({
  prompt_tokens: promptTokens,
  total_tokens: promptTokens + completionTokens,
  completion_tokens: completionTokens,
});

/** Sends a complete response: a string as plain text, any other value as JSON. */
export const sendBody = (response: ServerResponse, status: number, body: unknown): void => {
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'content-type': type }).end(toText(body));
};

/** Sends the headers of a stream. */
export const openStream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });

/** Sends a part of a stream, then waits while the client reads too slowly. */
export const sendPart = async (response: ServerResponse, part: string, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  if (!response.write(part)) await once(response, 'drain', { signal });
};

/** Breaks the response as the fault says, whether or not it has started. */
export const breakReply = async (response: ServerResponse, { kind, status, body }: Fault, signal: AbortSignal): Promise<void> => {
  // Node delays the first write of a response by a tick. Whatever was written before the fault must still arrive.
  await setImmediate();
  switch (kind) {
    case 'die':
      process.exit(1);
      break;
    case 'destroy':
      response.destroy();
      break;
    case 'end_without_done':
      response.end();
      break;
    case 'hang':
      if (!signal.aborted) await once(signal, 'abort');
      break;
    case 'error':
    case 'error_event':
      if (response.headersSent) response.end(toEvent(body ?? toErrorBody(null)) + DONE);
      else sendBody(response, status ?? 500, body ?? toErrorBody(null));
      break;
  }
};
