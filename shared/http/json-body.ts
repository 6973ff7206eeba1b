import { type ApiEvent, headerOf } from './api-event.ts';
import { ApiError, InvalidRequest } from './errors.ts';

/** Deeper JSON than this is refused: nothing we take needs it, and recursive readers downstream have small stacks. */
const MAX_DEPTH = 64;

class UnsupportedContentType extends ApiError {
  constructor(contentType: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_content_type',
      message: `The content type '${contentType.slice(0, 100)}' is not supported. Send 'Content-Type: application/json'.`,
    });
  }
}

const isJson = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType.trim());

const depthOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (inString) {
      if (character === 0x5c) i++;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x7b || character === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (character === 0x7d || character === 0x5d) depth--;
  }
  return deepest;
};

/**
 * The request's body as JSON. A missing content type is accepted; another than JSON, an empty body, bytes that are not
 * UTF-8, text that is not JSON or that nests too deep are a 400.
 */
export const readJsonBody = (event: ApiEvent): unknown => {
  const contentType = headerOf(event, 'content-type');
  if (contentType && !isJson(contentType)) throw new UnsupportedContentType(contentType);
  if (!event.body) throw new InvalidRequest({ message: 'The request body is empty. Send a JSON object.' });
  const text = event.isBase64Encoded ? decodeUtf8(event.body) : event.body;
  if (depthOf(text) > MAX_DEPTH) throw new InvalidRequest({ message: `The request body nests deeper than ${MAX_DEPTH} levels.` });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidRequest({ message: `The request body is not valid JSON: ${shortReason(error)}.`, code: 'invalid_json' });
  }
};

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const decodeUtf8 = (base64: string): string => {
  try {
    return strictUtf8.decode(Buffer.from(base64, 'base64'));
  } catch {
    throw new InvalidRequest({ message: 'The request body is not valid UTF-8.' });
  }
};

/** The parser's reason without the excerpt of the body that it quotes: an error text is logged, a prompt never is. */
const shortReason = (error: unknown): string => {
  const at = error instanceof Error ? /position \d+(?: \(line \d+ column \d+\))?/.exec(error.message)?.[0] : undefined;
  return at ? `unexpected text at ${at}` : 'it ends too early or holds unexpected text';
};
