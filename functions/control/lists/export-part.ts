import type { ApiEvent } from '../../../shared/http/api-event.ts';

// A response has at most 6 MB of JSON, in which each quotation mark and line feed of the text needs one more byte.
const MAX_BYTES = 5_500_000;

/** The room for lines in a response of text. */
export const createRoom = () => {
  let bytes = 0;
  return {
    /** Takes the room of a line, if there is enough. */
    fits: (line: string): boolean => {
      bytes += Buffer.byteLength(JSON.stringify(line));
      return bytes <= MAX_BYTES;
    },
  };
};

/** The `link` header of a part of an export: the next part, relative to the URL of the request. */
export const linkToNext = ({ multiValueQueryStringParameters }: ApiEvent, after: string): string => {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(multiValueQueryStringParameters ?? {}))
    if (name !== 'after') for (const value of values ?? []) query.append(name, value);
  query.set('after', after);
  return `<?${query}>; rel="next"`;
};
