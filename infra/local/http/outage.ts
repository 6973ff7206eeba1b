import type { RequestListener } from 'node:http';
import * as z from 'zod';
import { readBody } from './read-body.ts';
import { serveSettings } from './serve-settings.ts';

const PATH = '/control';
const MAX_SETTINGS_BYTES = 4_096;
const MAX_DELAY_MS = 60_000;

const Outage = z.strictObject({
  /** The effect on calls: `unavailable` is a 503 without a body, `refuse` a broken connection. */
  kind: z.enum(['unavailable', 'refuse']).nullable().default(null),
  /** The time before each reply. */
  delay_ms: z.int().min(0).max(MAX_DELAY_MS).default(0),
  /** Limits the outage to calls with this method. */
  method: z.enum(['GET', 'POST', 'PUT']).optional(),
});

/**
 * Adds outages to the server of an emulator: `PUT`, `GET` and `DELETE` manage them at `/control`. Responses have the
 * number of `calls` since the outage was set.
 */
export const withOutages = (serve: RequestListener): RequestListener => {
  let outage = Outage.parse({});
  let calls = 0;
  const set = (next: z.output<typeof Outage>): void => {
    outage = next;
    calls = 0;
  };
  const managed = { schema: Outage, set, reset: () => set(Outage.parse({})), show: () => ({ ...outage, calls }) };
  return (request, response) => {
    const { method = 'GET', url } = request;
    if (url === PATH) {
      readBody(request, MAX_SETTINGS_BYTES).then(
        (body) => serveSettings(managed, method, body ?? Buffer.alloc(0), response),
        () => response.destroy(),
      );
      return;
    }
    const { kind, delay_ms: delayMs } = outage;
    if (outage.method !== undefined && outage.method !== method) return serve(request, response);
    calls += 1;
    const reply = (): void => {
      if (response.destroyed) return;
      if (kind === null) serve(request, response);
      else if (kind === 'refuse') response.destroy();
      else response.writeHead(503).end();
    };
    if (delayMs > 0) setTimeout(reply, delayMs).unref();
    else reply();
  };
};
