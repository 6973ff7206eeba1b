import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * API Gateway's proxy event, with the arrival time and the request id that the reply, the logs and the usage event
 * have.
 */
export interface ApiEvent extends APIGatewayProxyEvent {
  requestId: string;
  receivedAtMs: number;
  /** The authenticated sender, as log lines name them. */
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

/**
 * The requested path, percent-encoded, without trailing slashes. Not `event.path`: that is as the caller sent it, and
 * on a custom domain it begins with the base path of the mapping.
 */
export const requestedPath = ({ resource, pathParameters }: ApiEvent): string => {
  const path = resource.replace(/\{(\w+)\+?\}/g, (_, name: string) => pathParameters?.[name] ?? '');
  let { length } = path;
  while (length > 1 && path[length - 1] === '/') length -= 1;
  return path.slice(0, length);
};

/** A header by its lower-case name; API Gateway keeps the case that the caller sent. */
export const headerOf = (event: ApiEvent, name: string): string | undefined => {
  for (const key in event.headers) if (key.length === name.length && key.toLowerCase() === name) return event.headers[key];
  return undefined;
};
