import * as z from 'zod';

const MAX_LIMIT = 100;

/** The query parameters of a paged list. */
export const pageQuery = {
  limit: z.coerce
    .number()
    .pipe(z.int().min(1).max(MAX_LIMIT))
    .default(20)
    .meta({ description: 'The maximum number of entries on a page.', type: 'integer' }),
  after: z
    .string()
    .regex(/^[!-~]{1,300}$/, 'expected the `next` value of an earlier page')
    .optional()
    .meta({ description: 'The `next` of the previous page. Returns the entries after it.' }),
};

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
