import * as z from 'zod';

const MAX_LIMIT = 100;

/** How a list is asked for, page by page. */
export const pageQuery = {
  limit: z.coerce
    .number()
    .pipe(z.int().min(1).max(MAX_LIMIT))
    .default(20)
    .meta({ description: 'The most entries of a page.', type: 'integer' }),
  after: z
    .string()
    .regex(/^[!-~]{1,300}$/, 'expected the `next` value of an earlier page')
    .optional()
    .meta({ description: 'The `next` of the page before: entries behind it.' }),
};

/** A page that is asked for. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
}

/** A page of a list as it goes out. */
export interface Page<Entry> {
  object: 'list';
  data: Entry[];
  has_more: boolean;
  /** What to send as `after` for the page behind it. */
  next: string | null;
}

/** The schema of a page of these entries. */
export const pageOf = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({
    object: z.literal('list'),
    data: z.array(entry),
    has_more: z.boolean(),
    next: z.string().nullable().meta({ description: 'What to send as `after` for the page behind this one; null on the last.' }),
  });
