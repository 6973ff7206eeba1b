import { readEvents } from '../shared/openapi/events.ts';
import { type Json, schemasOf } from '../shared/openapi/schemas.ts';

interface Reply {
  $ref?: string;
  content?: Record<string, { schema: Json }>;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Reply> }>>;
  components: { responses: Record<string, Reply> };
}

/** A reply that some test got, whoever asked for it. */
interface Seen {
  method: string;
  path: string;
  status: number;
  type: string;
  text: Promise<string | undefined>;
}

/** The path of the document that a path is an instance of. */
const toldPath = (paths: readonly string[], path: string): string | undefined =>
  paths.find((told) => new RegExp(`^${told.replace(/\{model\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`).test(path));

/**
 * Watches every reply of a host that is fetched from here on, whichever client fetches it; `faults` gives what of them the host's own
 * OpenAPI document does not tell. A reply that its caller gave up is passed over, and the document itself, which has tests of its own.
 */
export const watchReplies = (baseUrl: string) => {
  const plain = globalThis.fetch;
  const seen: Seen[] = [];
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const url = new URL(response.url || String(input instanceof Request ? input.url : input));
    if (url.href.startsWith(`${baseUrl}/`) && response.body && url.pathname !== '/openapi.json') {
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toLowerCase();
      const text = response
        .clone()
        .text()
        .catch(() => undefined);
      seen.push({ method, path: url.pathname, status: response.status, type, text });
    }
    return response;
  };

  const valuesOf = (type: string, text: string): unknown[] =>
    type === 'text/event-stream' ? readEvents(text).events.map(({ data }) => data) : [JSON.parse(text)];

  const faults = async (): Promise<unknown[]> => {
    globalThis.fetch = plain;
    // A host that a test has stopped tells nothing any more.
    const answer = await plain(`${baseUrl}/openapi.json`).catch(() => undefined);
    if (!answer) return [];
    const document = (await answer.json()) as Document;
    const told = schemasOf(document as unknown as Json, { isClosed: true });
    const found: unknown[] = [];
    for (const { method, path, status, type, text } of seen) {
      const known = toldPath(Object.keys(document.paths), path);
      const whole = await text;
      if (
        !known ||
        !document.paths[known]?.[method] ||
        whole === undefined ||
        (type !== 'application/json' && type !== 'text/event-stream')
      )
        continue;
      const reply = document.paths[known]?.[method]?.responses[status];
      const schema = (reply?.$ref ? document.components.responses[status] : reply)?.content?.[type]?.schema;
      if (!schema) found.push({ method, path, status, type, fault: 'the document tells no such reply' });
      else
        for (const value of valuesOf(type, whole))
          found.push(...told.faults(schema, value).map((fault) => ({ method, path, status, fault, value })));
    }
    return found;
  };
  return { faults };
};
