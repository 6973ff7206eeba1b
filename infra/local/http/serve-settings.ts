import type { ServerResponse } from 'node:http';
import type * as z from 'zod';

/** Settings that tests manage over HTTP. */
export interface ManagedSettings<Value> {
  schema: z.ZodType<Value>;
  set(settings: Value): void;
  reset(): void;
  /** Returns the body of a response. */
  show(): object;
}

/** Serves settings: PUT replaces them (missing ones get their defaults), DELETE resets them, GET returns them. */
export const serveSettings = <Value>(managed: ManagedSettings<Value>, method: string, body: Buffer, response: ServerResponse): void => {
  if (method === 'PUT') {
    const parsed = managed.schema.safeParse(parseJson(body));
    if (!parsed.success) {
      send(response, 400, { message: 'Invalid settings', issues: parsed.error.issues });
      return;
    }
    managed.set(parsed.data);
  } else if (method === 'DELETE') {
    managed.reset();
  } else if (method !== 'GET') {
    send(response, 405, { message: 'Use GET, PUT or DELETE' });
    return;
  }
  send(response, 200, managed.show());
};

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
