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

/** A reply that some test got, whoever asked for it. */
interface Seen {
  baseUrl: string;
  method: string;
  path: string;
  status: number;
  type: string;
  /** undefined: its caller gave it up. */
  text: Promise<string | undefined>;
}

/** The paths of the document that a path is an instance of. */
const toldPaths = (paths: readonly string[], path: string): string[] =>
  paths.filter((told) => new RegExp(`^${told.replace(/\{model\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`).test(path));

/** What the document tells of a method of a path; of two paths that fit, the one that is written so. */
const operationOf = ({ paths }: Document, { method, path }: Seen): { responses: Record<string, Reply> } | undefined => {
  const told = toldPaths(Object.keys(paths), path).filter((fitting) => paths[fitting]?.[method]);
  return paths[told.includes(path) ? path : (told[0] ?? '')]?.[method];
};

const valuesOf = (type: string, text: string): unknown[] =>
  type === 'text/event-stream' ? readEvents(text).events.map(({ data }) => data) : [JSON.parse(text)];

/** What of a reply its host's document does not tell. */
const faultsOf = async (document: Document, told: ReturnType<typeof schemasOf>, seen: Seen): Promise<unknown[]> => {
  const { method, path, status, type } = seen;
  const operation = operationOf(document, seen);
  const text = await seen.text;
  if (!operation || text === undefined) return [];
  const named = operation.responses[status];
  const reply = named?.$ref ? document.components.responses[status] : named;
  if (text === '' && type !== 'text/event-stream')
    return reply && !reply.content ? [] : [{ method, path, status, fault: 'the document tells no such reply without a body' }];
  if (type !== 'application/json' && type !== 'text/event-stream') return [];
  const schema = reply?.content?.[type]?.schema;
  if (!schema) return [{ method, path, status, type, fault: 'the document tells no such reply' }];
  return valuesOf(type, text).flatMap((value) => told.faults(schema, value).map((fault) => ({ method, path, status, fault, value })));
};

/**
 * Watches every reply of these hosts that is fetched from here on, whichever client fetches it; `faults` gives what of them each host's own
 * OpenAPI document does not tell. A reply that its caller gave up is passed over, and the document itself, which has tests of its own.
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
    // A host that a test has stopped tells nothing any more.
    const answer = await plain(`${baseUrl}/openapi.json`).catch(() => undefined);
    if (!answer) return [];
    const document = (await answer.json()) as Document;
    const told = schemasOf(document as unknown as Json, { isClosed: true });
    const found = seen.filter((reply) => reply.baseUrl === baseUrl).map((reply) => faultsOf(document, told, reply));
    return (await Promise.all(found)).flat();
  };

  const faults = async (): Promise<unknown[]> => {
    globalThis.fetch = plain;
    return (await Promise.all(baseUrls.map(faultsOfHost))).flat();
  };
  return { faults };
};
