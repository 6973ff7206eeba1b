import type { ApiEvent } from '../http/api-event.ts';
import { newRequestId } from '../ids/request-id.ts';

/**
 * Middleware: gives each request its arrival time and its id, a random one of our own. Callers can choose API
 * Gateway's `requestId`, and an id that a caller can repeat must never decide what is billed.
 */
export const identified = () => ({
  before: ({ event }: { event: ApiEvent }): void => {
    event.receivedAtMs = Date.now();
    event.requestId = newRequestId(event.receivedAtMs);
  },
});
