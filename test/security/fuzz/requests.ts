import { HOSTILE_STRINGS, hostileValue, intBelow, isLikely, oneOf, type Random } from './hostile-values.ts';
import { mutated, type Schema, validValue } from './schema-values.ts';

interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
}
interface DocumentedOperation {
  parameters?: Parameter[];
  requestBody?: { content: { 'application/json': { schema: Schema; examples?: Record<string, { value: unknown }> } } };
}
/** The parts of an OpenAPI document that requests are made from. */
export interface FuzzedDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** Headers that authenticate the sender of a request, or pretend to. */
export interface Caller {
  name: string;
  headers: Record<string, string>;
}

type Known = Readonly<Record<string, readonly unknown[]>>;

/** The facts of a host from which requests to it are made. */
export interface FuzzedHost {
  document: FuzzedDocument;
  callers: readonly Caller[];
  /** Callers without valid credentials, who send a tenth of the requests. */
  strangers: readonly Caller[];
  /** Ids that exist, by the beginning of a documented path. The longest one applies. */
  ids: Readonly<Record<string, readonly string[]>>;
  /** Values that exist for properties of bodies, query parameters, and ids after the first of a path, by name. */
  known: Known;
  /** Those of the bodies of one documented path, before the ones of all. */
  knownIn: Readonly<Record<string, Known>>;
}

export interface FuzzedRequest {
  /** Method and path as documented. */
  operation: string;
  caller: string;
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
}

// Node answers 431 to a longer line of a request.
const MAX_IN_PATH = 300;
const HUGE_BODY_BYTES = 6_500_000;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  '*/*',
  'x',
];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const encoded = (value: unknown): string =>
  encodeURIComponent(
    textOf(value)
      .slice(0, MAX_IN_PATH / 6)
      .toWellFormed(),
  ).slice(0, MAX_IN_PATH);

// An HTTP client sends no other characters in a header.
const headerText = (value: unknown): string =>
  textOf(value)
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?')
    .slice(0, MAX_IN_PATH);

/**
 * Creates requests to one host from its OpenAPI document: most of them valid but for a few hostile parts, some
 * entirely valid.
 */
export const createRequests = ({ document, callers, strangers, ids, known, knownIn }: FuzzedHost) => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  // The pages of the service itself take no input.
  const offered = operations.filter(({ path }) => /^\/v\d\//.test(path) || path.endsWith('tokenize'));
  const resolve = (ref: string): Schema => document.components.schemas[ref.replace('#/components/schemas/', '')] as Schema;
  const prefixes = Object.keys(ids).sort((a, b) => b.length - a.length);

  const pathOf = (path: string, { parameters = [] }: DocumentedOperation, isValid: boolean, random: Random): string => {
    const existing = ids[prefixes.find((prefix) => path.startsWith(prefix)) ?? ''] ?? [];
    let isFirst = true;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const among = isFirst ? existing : (known[name] ?? []);
      const value = among.length > 0 ? oneOf(random, among) : parameters.find((each) => each.name === name)?.example;
      isFirst = false;
      return isValid || isLikely(random, 0.7) ? encoded(value ?? 'none') : encoded(oneOf(random, HOSTILE_STRINGS));
    });
    return !isValid && isLikely(random, 0.02) ? `${filled}/${encoded(oneOf(random, HOSTILE_STRINGS))}` : filled;
  };

  const parameterOf = ({ name, schema, example }: Parameter, isValid: boolean, random: Random): unknown => {
    if (!isValid && isLikely(random, 0.3)) return hostileValue(random);
    return oneOf(random, known[name] ?? [example ?? validValue(schema, resolve, random), validValue(schema, resolve, random)]);
  };

  const queryOf = ({ parameters = [] }: DocumentedOperation, isValid: boolean, random: Random): string => {
    const sent = parameters.filter((each) => each.in === 'query' && (each.required || isLikely(random, 0.3)));
    const pairs = sent.flatMap((each) => {
      const value = parameterOf(each, isValid, random);
      const values = Array.isArray(value) ? value.slice(0, MAX_IN_PATH / 10) : [value];
      return values.map((one) => `${each.name}=${encoded(one)}`);
    });
    if (!isValid && isLikely(random, 0.05)) pairs.push(`${encoded(oneOf(random, HOSTILE_STRINGS))}=${encoded(hostileValue(random))}`);
    return pairs.length > 0 ? `?${pairs.join('&')}` : '';
  };

  const headersOf = ({ parameters = [] }: DocumentedOperation, isValid: boolean, random: Random): FuzzedRequest['headers'] => {
    const sent = parameters.filter((each) => each.in === 'header' && (each.required || isLikely(random, isValid ? 0.05 : 0.15)));
    const headers: FuzzedRequest['headers'] = Object.fromEntries(
      sent.map((each) => [each.name, headerText(parameterOf(each, isValid, random))]),
    );
    if (isValid) return headers;
    if (isLikely(random, 0.05)) headers.traceparent = headerText(oneOf(random, HOSTILE_STRINGS));
    if (isLikely(random, 0.03)) headers['x-forwarded-for'] = ['127.0.0.1', headerText(oneOf(random, HOSTILE_STRINGS))];
    if (isLikely(random, 0.03)) headers.accept = headerText(oneOf(random, HOSTILE_STRINGS));
    if (isLikely(random, 0.02)) headers['content-encoding'] = oneOf(random, ['gzip', 'br', 'identity', 'x']);
    return headers;
  };

  /** Replaces the values of known properties, so that a body refers to what exists. */
  const withKnown = (value: unknown, known: Known, random: Random): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, known[name] ? oneOf(random, known[name]) : part]));
  };

  const bodyOf = (path: string, { requestBody }: DocumentedOperation, isValid: boolean, random: Random): Buffer | undefined => {
    const json = requestBody?.content['application/json'];
    if (!json) return !isValid && isLikely(random, 0.05) ? Buffer.from('{}') : undefined;
    const examples = Object.values(json.examples ?? {});
    const example = examples.length > 0 && isLikely(random, isValid ? 0.9 : 0.5) ? oneOf(random, examples).value : undefined;
    let value = withKnown(example ?? validValue(json.schema, resolve, random), { ...known, ...knownIn[path] }, random);
    if (isValid) return Buffer.from(JSON.stringify(value));
    for (let changes = intBelow(random, 3); changes >= 0; changes -= 1) value = mutated(value, random);
    return brokenAtTimes(Buffer.from(JSON.stringify(value) ?? ''), random);
  };

  /** The next request. */
  return (random: Random): FuzzedRequest => {
    const { path, method, operation } = oneOf(random, isLikely(random, 0.05) ? operations : offered);
    const caller = oneOf(random, isLikely(random, 0.1) ? strangers : callers);
    const isValid = isLikely(random, 0.35);
    const body = bodyOf(path, operation, isValid, random);
    const type = !isValid && isLikely(random, 0.05) ? oneOf(random, TYPES) : 'application/json';
    return {
      operation: `${method} ${path}`,
      caller: caller.name,
      method: !isValid && isLikely(random, 0.03) ? oneOf(random, METHODS) : method,
      path: pathOf(path, operation, isValid, random) + queryOf(operation, isValid, random),
      headers: { ...(body && { 'content-type': type }), ...headersOf(operation, isValid, random), ...caller.headers },
      ...(body && { body }),
    };
  };
};

// JSON that ends early, bytes that are not UTF-8, a byte order mark, two values, more than a host accepts.
const brokenAtTimes = (body: Buffer, random: Random): Buffer => {
  const kind = random();
  if (kind < 0.02) return body.subarray(0, intBelow(random, body.length + 1));
  if (kind < 0.04)
    return Buffer.concat([body.subarray(0, body.length >> 1), Buffer.from([0xff, 0xc0, 0x80]), body.subarray(body.length >> 1)]);
  if (kind < 0.05) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]);
  if (kind < 0.06) return Buffer.concat([body, body]);
  if (kind < 0.07) return Buffer.from(body.toString('utf8').replaceAll(/"(\w+)":/g, '"$1":0,"$1":'));
  return kind < 0.0705 ? Buffer.alloc(HUGE_BODY_BYTES, ' ') : body;
};
