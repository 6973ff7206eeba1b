import { type ApiEvent, headerOf } from '../api-event.ts';
import { InvalidRequest } from '../errors.ts';
import { isRawNumber, type OpaqueParts, parseKeepingNumbers } from './json-numbers.ts';
import { MAX_DEPTH, MAX_VALUES, MAX_WIDTH, measureJson } from './json-size.ts';

// Only escapes can be lone surrogates: the body itself is UTF-8.
const HALF_CHARACTER = /\\u[dD][89a-fA-F]/;

// Replaces lone surrogates with U+FFFD, in place, because no tokenizer and no database accepts them.
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  const object = value as Record<string, unknown>;
  const names = Object.keys(object);
  for (const name of names) object[name] = wellFormed(object[name]);
  if (names.every((name) => name.isWellFormed())) return object;
  return Object.fromEntries(names.map((name) => [name.toWellFormed(), object[name]]));
};

const invalid = (fault: string): InvalidRequest => new InvalidRequest({ message: `The request body ${fault}` });

const isJson = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim());

/** The text of a request's body, without a byte order mark; empty without one. @throws 400 for invalid UTF-8 */
export const bodyText = ({ body, isBase64Encoded }: Pick<ApiEvent, 'body' | 'isBase64Encoded'>): string =>
  isBase64Encoded ? decodeUtf8(body ?? '') : (body ?? '');

/**
 * Parses the request's body as JSON. Lone surrogates become U+FFFD. A missing content type is accepted.
 * @param opaque the parts whose numbers keep their form (see `parseKeepingNumbers`); by default none
 * @throws 400 for another content type, a compressed body, an empty one, invalid UTF-8 or JSON, and JSON that is too
 * deep, has too many values, too wide an object or a number that is too large
 */
export const readJsonBody = (event: ApiEvent, opaque?: OpaqueParts): unknown => {
  const contentType = headerOf(event, 'content-type');
  if (contentType && !isJson(contentType))
    throw new InvalidRequest({
      message: `The content type '${contentType.slice(0, 100)}' is not supported. Send 'Content-Type: application/json'.`,
      code: 'unsupported_content_type',
    });
  const encoding = headerOf(event, 'content-encoding');
  if (encoding && encoding.trim().toLowerCase() !== 'identity')
    throw new InvalidRequest({
      message: `The content encoding '${encoding.slice(0, 100)}' is not supported. Send the body uncompressed, without 'Content-Encoding'.`,
      code: 'unsupported_content_encoding',
    });
  if (!event.body) throw invalid('is empty. Send a JSON object.');
  const text = bodyText(event);
  const { depth, values, width, hasOtherNumbers, hasInfinity } = measureJson(text);
  if (depth > MAX_DEPTH) throw invalid(`is nested more than ${MAX_DEPTH} levels deep. Send a flatter object.`);
  if (values > MAX_VALUES)
    throw invalid(`has more than ${MAX_VALUES} values, keys included. Shorten it, or split it into several requests.`);
  if (width > MAX_WIDTH) throw invalid(`has an object with more than ${MAX_WIDTH} keys. Send a smaller object.`);
  if (hasInfinity) throw invalid('has a number beyond 1.7e308. Send a smaller one.');
  try {
    const body: unknown = opaque && hasOtherNumbers ? parseKeepingNumbers(text, opaque) : JSON.parse(text);
    return HALF_CHARACTER.test(text) ? wellFormed(body) : body;
  } catch (error) {
    throw new InvalidRequest({
      message: `The request body is not valid JSON: ${shortReason(error)}. Send a JSON object.`,
      code: 'invalid_json',
    });
  }
};

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const decodeUtf8 = (base64: string): string => {
  try {
    return strictUtf8.decode(Buffer.from(base64, 'base64'));
  } catch {
    throw invalid('is not valid UTF-8. Send the JSON in UTF-8.');
  }
};

// Without the parser's excerpt of the body, because messages are logged and prompts must not be.
const shortReason = (error: unknown): string => {
  const at = error instanceof Error ? /position \d+(?: \(line \d+ column \d+\))?/.exec(error.message)?.[0] : undefined;
  return at ? `unexpected text at ${at}` : 'it ends too early or contains unexpected text';
};
