import { expect } from '@jest/globals';
import { referredReply } from './document-faults.ts';
import { type Json, schemasOf } from './schemas.ts';
import { readEvents } from './server-sent-events.ts';

interface Reply {
  $ref?: string;
  headers?: Json;
  content?: Record<string, { schema: Json }>;
}
interface Operation {
  parameters?: { in: string; name: string }[];
  requestBody: { content: { 'application/json': { schema: Json; examples: Record<string, { value: Json }> } } };
  responses: Record<string, Reply>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Reply> };
}

interface RequestOptions {
  body?: Json;
  /** Replaces `{id}` in the path. */
  id?: string;
  query?: string;
  key?: string;
}

// Checks that the name of an event, if it has one, equals its type.
const dataOf = (stream: string): Json[] =>
  readEvents(stream).events.map(({ name, data }) => {
    if (name !== undefined) expect(name).toBe((data as Json).type);
    return data as Json;
  });

/** Checks replies of a host against the OpenAPI document that the host serves. */
export const documentedReplies = async ({ base_url, api_key }: { base_url: string; api_key: string }) => {
  const document = (await (await fetch(`${base_url}/openapi.json`)).json()) as Document;
  const { faults } = schemasOf(document as unknown as Json, { isClosed: true });

  const operationOf = (path: string, method: string): Operation => {
    const operation = document.paths[path]?.[method];
    if (!operation) throw new Error(`The document has no ${method} ${path}.`);
    return operation;
  };

  const replyOf = (path: string, method: string, status: number): Reply => {
    const reply = operationOf(path, method).responses[status];
    if (!reply) throw new Error(`The document has no ${status} for ${method} ${path}.`);
    return referredReply(document, reply);
  };

  /**
   * Sends a request and checks status, headers and body, or each event of a stream, against the document. Returns the
   * values and the last of them.
   */
  const checkReply = async (path: string, method: string, { body, id = '', query = '', key = api_key }: RequestOptions) => {
    const response = await fetch(base_url + path.replace('{id}', id) + query, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const documented = replyOf(path, method, response.status);
    const undocumented = [...response.headers.keys()].filter(
      (name) => /^x-(request|ratelimit|sluice|should)|^retry-|^etag$/.test(name) && !documented.headers?.[name],
    );
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const schema = documented.content?.[type]?.schema;
    expect({ path, status: response.status, type, isDocumented: schema !== undefined, undocumented }).toMatchObject({
      isDocumented: true,
      undocumented: [],
    });
    const text = await response.text();
    const values = type === 'text/event-stream' ? dataOf(text) : [JSON.parse(text) as Json];
    for (const value of values) expect({ value, faults: faults(schema as Json, value) }).toEqual({ value, faults: [] });
    return { status: response.status, values, value: values.at(-1) as Json, isDone: text.endsWith('data: [DONE]\n\n') };
  };

  return { operationOf, checkReply };
};
export type DocumentedReplies = Awaited<ReturnType<typeof documentedReplies>>;
