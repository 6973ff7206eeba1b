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
export interface SeenReply {
  method: string;
  path: string;
  status: number;
  type: string;
  /** undefined if the caller aborted it. */
  text: Promise<string | undefined>;
}

/** Where a reply differs from the document. */
export interface ReplyFault {
  method: string;
  path: string;
  status: number;
  type?: string;
  /** The difference, such as ` must have required property 'name'`. */
  fault: string;
}

/** True if a path is one of those that a documented path with parameters stands for. */
export const isOfPath = (path: string, documented: string): boolean =>
  new RegExp(`^${documented.replace(/\{model\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

// A path without parameters wins over one with parameters.
const operationOf = ({ paths }: Document, { method, path }: SeenReply): { responses: Record<string, Reply> } | undefined => {
  const matching = Object.keys(paths).filter((documented) => isOfPath(path, documented) && paths[documented]?.[method]);
  return paths[matching.includes(path) ? path : (matching[0] ?? '')]?.[method];
};

/** A documented reply; a reference to a component is followed. */
export const referredReply = <R extends { $ref?: string }>({ components }: { components: { responses: Record<string, R> } }, reply: R): R =>
  components.responses[reply.$ref?.split('/').at(-1) ?? ''] ?? reply;

const valuesOf = (type: string, text: string): unknown[] =>
  type === 'text/event-stream' ? readEvents(text).events.map(({ data }) => data) : [JSON.parse(text)];

const faultsOfReply = async (document: Document, schemas: ReturnType<typeof schemasOf>, seen: SeenReply): Promise<ReplyFault[]> => {
  const { method, path, status, type } = seen;
  const operation = operationOf(document, seen);
  const text = await seen.text;
  if (!operation || text === undefined) return [];
  const documented = operation.responses[status];
  const reply = documented && referredReply(document, documented);
  // A list without rows is an empty file.
  if (text === '' && (type === '' || type === 'application/json'))
    return reply && !reply.content ? [] : [{ method, path, status, fault: 'the document has no such reply without a body' }];
  if (type !== 'application/json' && type !== 'text/event-stream') return [];
  const schema = reply?.content?.[type]?.schema;
  if (!schema) return [{ method, path, status, type, fault: 'the document has no such reply' }];
  return valuesOf(type, text).flatMap((value) => schemas.faults(schema, value).map((fault) => ({ method, path, status, fault, value })));
};

/**
 * Compares replies of a host with its OpenAPI document, as it was served. An undocumented property is a fault, except
 * in the schemas named in `open`.
 */
export const readDocument = async (served: Response, open: string[] = []) => {
  const document = (await served.json()) as Document;
  const schemas = schemasOf(document as unknown as Json, { isClosed: true, open });
  return {
    document,
    /** Where a reply differs from the document; empty if its path or method is not documented. */
    faults: (seen: SeenReply): Promise<ReplyFault[]> => faultsOfReply(document, schemas, seen),
  };
};
