import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Fault } from './control.ts';
import { toErrorBody } from './errors.ts';

export const DONE = 'data: [DONE]\n\n';

/** A value in, one SSE event out; a string is taken as text that is not JSON. */
export const toEvent = (value: unknown): string => `data: ${toText(value)}\n\n`;

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What all chunks of one reply share: the id, the Unix time in seconds, the served model's name. */
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

/** The head of a new reply; its id is the prefix and the request's own id, or a random one. */
export const createReplyHead = (prefix: string, model: string, requestId: string | undefined): ReplyHead => ({
  id: `${prefix}-${requestId ?? randomHex()}`,
  created: Math.floor(Date.now() / 1_000),
  model,
});

/** Token counts in, vLLM's usage object out. */
export const toUsage = (promptTokens: number, completionTokens: number): Usage => ({
  prompt_tokens: promptTokens,
  total_tokens: promptTokens + completionTokens,
  completion_tokens: completionTokens,
});

/** Sends a whole reply: any value as JSON, a string as plain text. */
export const sendBody = (response: ServerResponse, status: number, body: unknown): void => {
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'content-type': type }).end(toText(body));
};

/** Sends the head of a stream. */
export const openStream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });

/** Sends a part of a stream, and waits while the client is slower than the model. */
export const sendPart = async (response: ServerResponse, part: string, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  if (!response.write(part)) await once(response, 'drain', { signal });
};

/** Breaks a reply, begun or not, in the way of the fault. */
export const breakReply = async (response: ServerResponse, { kind, status, body }: Fault, signal: AbortSignal): Promise<void> => {
  // Node sends the first write of a reply a tick later; what was written before the fault must still arrive.
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
