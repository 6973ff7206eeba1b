import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { Text } from '../access/route.ts';

// A response has at most 6 MB of JSON, in which each quotation mark and line feed of the text needs one more byte.
const MAX_BYTES = 5_500_000;

/** The `link` header of a part of an export: the next part, relative to the URL of the request. */
export const linkToNext = ({ multiValueQueryStringParameters }: ApiEvent, after: string): string => {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(multiValueQueryStringParameters ?? {}))
    if (name !== 'after') for (const value of values ?? []) query.append(name, value);
  query.set('after', after);
  return `<?${query}>; rel="next"`;
};

interface Part<Item> {
  fileName: string;
  contentType: string;
  /** The first line; empty: none. */
  header: string;
  items: readonly Item[];
  lineOf: (item: Item) => string;
  /** The `after` of what follows an item. */
  cursorOf: (item: Item) => string;
  /** The `after` of what follows all items; undefined: nothing does. */
  next: string | undefined;
}

/** A part of an export as a file: as many of the items as fit a response, with a `link` to the next part. */
export const exportPart = <Item>(event: ApiEvent, part: Part<Item>): Text => {
  const { fileName, contentType, header, items, lineOf, cursorOf } = part;
  const lines = [header];
  let { next } = part;
  let last: Item | undefined;
  let bytes = 0;
  for (const item of items) {
    const line = lineOf(item);
    bytes += Buffer.byteLength(JSON.stringify(line));
    if (bytes > MAX_BYTES) {
      next = last && cursorOf(last);
      break;
    }
    lines.push(line);
    last = item;
  }
  const link = next !== undefined && { link: linkToNext(event, next) };
  return new Text(contentType, lines.join(''), { 'content-disposition': `attachment; filename="${fileName}"`, ...link });
};
