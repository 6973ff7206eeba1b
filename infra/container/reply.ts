import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Fault } from './control.ts';
import { toErrorBody } from './errors.ts';

export const DONE = 'data: [DONE]\n\n';

/** A value in, one SSE event out; a string is taken as text that is not JSON. */
export const toEvent = (value: unknown): string => `data: ${toText(value)}\n\n`;

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Sends a whole reply: any value as JSON, a string as plain text. */
export function sendBody(response: ServerResponse, status: number, body: unknown): void {
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  response.writeHead(status, { 'content-type': type }).end(toText(body));
}

/** Sends a part of a stream, and waits while the client is slower than the model. */
export async function sendPart(response: ServerResponse, part: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!response.write(part)) await once(response, 'drain', { signal });
}

/** Breaks a reply, begun or not, in the way of the fault. */
export async function breakReply(response: ServerResponse, { kind, status, body }: Fault, signal: AbortSignal): Promise<void> {
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
    case 'error_event':
      if (response.headersSent) {
        response.end(toEvent(body ?? toErrorBody(null)) + DONE);
        break;
      }
      sendBody(response, status ?? 500, body ?? toErrorBody(null));
      break;
    case 'error':
      sendBody(response, status ?? 500, body ?? toErrorBody(null));
      break;
  }
}
