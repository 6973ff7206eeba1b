import * as z from 'zod';

/** Whether a value can be a token id at all. */
export const isTokenId = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** Token ids. Only the first that is none is told: each issue takes memory, and there may be hundreds of thousands. */
export const TokenIds = z
  .custom<number[]>(Array.isArray, { error: 'expected an array of token ids', abort: true })
  .superRefine((ids, context) => {
    const place = ids.findIndex((id) => !isTokenId(id));
    if (place >= 0) context.addIssue({ code: 'custom', path: [place], message: 'expected a token id (a non-negative integer)' });
  })
  .meta({ type: 'array', items: { type: 'integer', minimum: 0 } });

/** The same, but no more than so many. */
export const tokenIdsUpTo = (most: number) =>
  TokenIds.refine((ids) => ids.length <= most, `expected at most ${most} token ids`).meta({ ...TokenIds.meta(), maxItems: most });
