import { type Json, schemasOf } from './schemas.ts';
import { readEvents } from './server-sent-events.ts';

interface Reply {
  $ref?: string;
  content?: Record<string, { schema: Json }>;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Reply> }>>;
  components: { responses: Record<string, Reply> };
}

/** A reply that a test received, with whichever client. */
interface Seen {
  baseUrl: string;
  method: string;
  path: string;
  status: number;
  type: string;
  /** undefined if the caller aborted it. */
  text: Promise<string | undefined>;
}

/** The documented paths that match a path. */
const matchingPaths = (paths: readonly string[], path: string): string[] =>
  paths.filter((documented) => new RegExp(`^${documented.replace(/\{model\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`).test(path));

/** The documented operation of a method and a path. A path without parameters wins over one with parameters. */
const operationOf = ({ paths }: Document, { method, path }: Seen): { responses: Record<string, Reply> } | undefined => {
  const matching = matchingPaths(Object.keys(paths), path).filter((documented) => paths[documented]?.[method]);
  return paths[matching.includes(path) ? path : (matching[0] ?? '')]?.[method];
};

const valuesOf = (type: string, text: string): unknown[] =>
  type === 'text/event-stream' ? readEvents(text).events.map(({ data }) => data) : [JSON.parse(text)];

/** Where a reply differs from the document of its host. */
const faultsOf = async (document: Document, schemas: ReturnType<typeof schemasOf>, seen: Seen): Promise<unknown[]> => {
  const { method, path, status, type } = seen;
  const operation = operationOf(document, seen);
  const text = await seen.text;
  if (!operation || text === undefined) return [];
  const documented = operation.responses[status];
  const reply = documented?.$ref ? document.components.responses[status] : documented;
  if (text === '' && type !== 'text/event-stream')
    return reply && !reply.content ? [] : [{ method, path, status, fault: 'the document has no such reply without a body' }];
  if (type !== 'application/json' && type !== 'text/event-stream') return [];
  const schema = reply?.content?.[type]?.schema;
  if (!schema) return [{ method, path, status, type, fault: 'the document has no such reply' }];
  return valuesOf(type, text).flatMap((value) => schemas.faults(schema, value).map((fault) => ({ method, path, status, fault, value })));
};

/**
 * Watches every reply that any client fetches from these hosts from now on. `faults` returns where replies differ from the OpenAPI document
 * of their host. Replies that the caller aborted are skipped, and so is the document itself, which has its own tests.
 */
export const watchReplies = (...baseUrls: readonly string[]) => {
  const plain = globalThis.fetch;
  const seen: Seen[] = [];
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const { origin, pathname } = new URL(response.url || String(input instanceof Request ? input.url : input));
    const baseUrl = baseUrls.find((url) => `${origin}${pathname}`.startsWith(`${url}/`));
    const path = `${origin}${pathname}`.slice(baseUrl?.length);
    if (baseUrl !== undefined && path !== '/openapi.json') {
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toLowerCase();
      const text = response
        .clone()
        .text()
        .catch(() => undefined);
      seen.push({ baseUrl, method, path, status: response.status, type, text });
    }
    return response;
  };

  const faultsOfHost = async (baseUrl: string): Promise<unknown[]> => {
    // A test may have stopped the host.
    const answer = await plain(`${baseUrl}/openapi.json`).catch(() => undefined);
    if (!answer) return [];
    const document = (await answer.json()) as Document;
    const schemas = schemasOf(document as unknown as Json, { isClosed: true });
    const found = seen.filter((reply) => reply.baseUrl === baseUrl).map((reply) => faultsOf(document, schemas, reply));
    return (await Promise.all(found)).flat();
  };

  const faults = async (): Promise<unknown[]> => {
    globalThis.fetch = plain;
    return (await Promise.all(baseUrls.map(faultsOfHost))).flat();
  };
  return { faults };
};
