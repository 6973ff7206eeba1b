import * as z from 'zod';
import { type IdKind, prefixes } from '../ids/id.ts';
import { InvalidValue } from './errors.ts';

const MAX_LIMIT = 100;

const limit = z.coerce
  .number()
  .pipe(z.int().min(1).max(MAX_LIMIT))
  .default(20)
  .meta({ description: 'The maximum number of entries on a page.', type: 'integer' });

const expectedCursor = (next: string): string => `expected the \`${next}\` of an earlier page of this list`;

/** A cursor that no page of the list returned: 400. */
export class WrongCursor extends InvalidValue {
  /** @param next the field of a page that has the cursor */
  constructor(param = 'after', next = 'next') {
    super(param, expectedCursor(next));
  }
}

const afterLike = (form: RegExp) =>
  z
    .string()
    .regex(form, expectedCursor('next'))
    .optional()
    .meta({ description: 'The `next` of the previous page. Returns the entries after it.' });

/** The query parameters of a paged list, whose rule knows the form of its cursors. */
export const pageQuery = { limit, after: afterLike(/^[!-~]{1,300}$/) };

/** The query parameters of a paged list whose cursors are ids, also of entries that no longer exist. */
export const pageQueryOf = (kind: IdKind) => ({ limit, after: afterLike(new RegExp(`^${prefixes[kind]}[0-9A-Za-z_]{1,64}$`)) });

/** A requested page. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
}

/** A page of a list on the wire. */
export interface Page<Entry> {
  object: 'list';
  data: Entry[];
  has_more: boolean;
  /** The `after` of the next page; null on the last page. */
  next: string | null;
}

/** The schema of a page of these entries. */
export const pageOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({
    object: z.literal('list'),
    data: z.array(entry),
    has_more: z.boolean(),
    next: z.string().nullable().meta({ description: 'To get the next page, send this as `after`. Null on the last page.' }),
  });
