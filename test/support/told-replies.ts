import { expect } from '@jest/globals';
import { type Json, schemasOf } from './schemas.ts';
import { readEvents } from './server-sent-events.ts';

interface Reply {
  $ref?: string;
  headers?: Json;
  content?: Record<string, { schema: Json }>;
}
interface Told {
  parameters?: { in: string; name: string }[];
  requestBody: { content: { 'application/json': { schema: Json; examples: Record<string, { value: Json }> } } };
  responses: Record<string, Reply>;
}
interface Document {
  paths: Record<string, Record<string, Told>>;
  components: { responses: Record<string, Reply> };
}

interface Asking {
  body?: Json;
  /** In place of `{id}` in the path. */
  id?: string;
  query?: string;
  key?: string;
}

/** The data of each event of a stream; an event that has a name has it as its type too. */
const dataOf = (stream: string): Json[] =>
  readEvents(stream).events.map(({ name, data }) => {
    if (name !== undefined) expect(name).toBe((data as Json).type);
    return data as Json;
  });

/** A host's replies, held to the document that it serves. */
export const toldReplies = async ({ base_url, api_key }: { base_url: string; api_key: string }) => {
  const document = (await (await fetch(`${base_url}/openapi.json`)).json()) as Document;
  const { faults } = schemasOf(document as unknown as Json, { isClosed: true });

  const operationOf = (path: string, method: string): Told => {
    const told = document.paths[path]?.[method];
    if (!told) throw new Error(`The document tells no ${method} ${path}.`);
    return told;
  };

  /** What the document says of a reply; its references to components are followed. */
  const replyOf = (path: string, method: string, status: number): Reply => {
    const reply = operationOf(path, method).responses[status];
    if (!reply) throw new Error(`The document tells no ${status} of ${method} ${path}.`);
    return reply.$ref ? (document.components.responses[status] as Reply) : reply;
  };

  /** Asks, and holds status, headers and body, or each event of a stream, to the document. The values that came, and the last of them. */
  const asTold = async (path: string, method: string, { body, id = '', query = '', key = api_key }: Asking) => {
    const response = await fetch(base_url + path.replace('{id}', id) + query, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const told = replyOf(path, method, response.status);
    const untold = [...response.headers.keys()].filter(
      (name) => /^x-(request|ratelimit|sluice|should)|^retry-|^etag$/.test(name) && !told.headers?.[name],
    );
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    const schema = told.content?.[type]?.schema;
    expect({ path, status: response.status, type, isTold: schema !== undefined, untold }).toMatchObject({ isTold: true, untold: [] });
    const text = await response.text();
    const values = type === 'text/event-stream' ? dataOf(text) : [JSON.parse(text) as Json];
    for (const value of values) expect({ value, faults: faults(schema as Json, value) }).toEqual({ value, faults: [] });
    return { status: response.status, values, value: values.at(-1) as Json, isDone: text.endsWith('data: [DONE]\n\n') };
  };

  return { operationOf, asTold };
};
export type ToldReplies = Awaited<ReturnType<typeof toldReplies>>;
