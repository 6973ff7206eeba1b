import type { APIGatewayProxyEvent } from 'aws-lambda';
import { newRequestId } from '../ids/request-id.ts';

/** API Gateway's proxy event, with the arrival time and the request id that the reply, the logs and the usage event have. */
export interface ApiEvent extends APIGatewayProxyEvent {
  requestId: string;
  receivedAtMs: number;
  /** Who sent it, as log lines name them; set when they are authenticated. */
  sender?: Sender;
  /** The path of its route, such as `/v1/api-keys/{id}`; set when the route is found. */
  routePath?: string;
}

/** An API key or a user, and their organization; admins have none. */
export interface Sender {
  key_id?: string;
  user?: string;
  org_id: string | null;
}

/** A header by its lower-case name; API Gateway keeps the case that the caller sent. */
export const headerOf = (event: ApiEvent, name: string): string | undefined => {
  for (const key in event.headers) if (key.length === name.length && key.toLowerCase() === name) return event.headers[key];
  return undefined;
};

/**
 * Gives the request its id, a random one of our own. Callers can choose API Gateway's `requestId`, and an id that a caller can repeat must never
 * decide what is billed.
 */
export const identify = (event: ApiEvent): void => {
  event.receivedAtMs = Date.now();
  event.requestId = newRequestId(event.receivedAtMs);
};
