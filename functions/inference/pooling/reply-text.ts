import { commonHeaders, type Reply } from '../../../shared/http/reply.ts';
import { type ReplyBody, replyBody } from '../pipeline/reply-body.ts';

const JSON_TYPE = 'application/json';
// A longer reply is written piece by piece, so that its text is never in memory as a whole.
const MAX_WHOLE_CHARACTERS = 1024 * 1024;
// Characters of one write.
const MAX_PART_CHARACTERS = 64 * 1024;
// Between two pieces of JSON. Sent to a caller that reads slowly, so that no proxy closes the connection.
const SPACE = ' ';

/** A reply as one text, or as the pieces of a long one. */
export type ReplyText = { whole: string } | { pieces: AsyncGenerator<string> };

async function* following(start: string, rest: Iterator<string>): AsyncGenerator<string> {
  yield start;
  let part = '';
  for (let piece = rest.next(); !piece.done; piece = rest.next()) {
    part += piece.value;
    if (part.length < MAX_PART_CHARACTERS) continue;
    yield part;
    part = '';
  }
  yield part;
}

/** Joins the pieces of a reply if they are short. */
export const replyText = (pieces: Iterable<string>): ReplyText => {
  const rest = pieces[Symbol.iterator]();
  let text = '';
  for (let piece = rest.next(); !piece.done; piece = rest.next()) {
    text += piece.value;
    if (text.length > MAX_WHOLE_CHARACTERS) return { pieces: following(text, rest) };
  }
  return { whole: text };
};

/**
 * The reply of a settled request.
 * @param leftMs the time that its caller has to read it
 * @param onWritten is called when a long reply was written
 */
export const textReply = (
  requestId: string,
  text: ReplyText,
  headers: Record<string, string>,
  leftMs: number,
  onWritten: () => void,
): Reply<string | ReplyBody> => {
  const head = { statusCode: 200, headers: { ...commonHeaders(requestId, JSON_TYPE), ...headers } };
  if ('whole' in text) return { ...head, body: text.whole };
  const nothing = (): void => undefined;
  const body = replyBody(text.pieces, nothing, async () => undefined, SPACE);
  const writeTo: ReplyBody['writeTo'] = async (caller) => {
    const late = setTimeout(() => body.destroy(), leftMs);
    try {
      await body.writeTo(caller);
    } finally {
      clearTimeout(late);
      onWritten();
    }
  };
  return { ...head, body: { ...body, writeTo } };
};
