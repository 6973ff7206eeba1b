import * as z from 'zod';

/** The value has the form of a token id. */
export const isTokenId = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/**
 * A list of token ids. Reports only the first invalid id: each zod issue needs memory, and there can be hundreds of
 * thousands.
 */
export const TokenIds = z
  .custom<number[]>(Array.isArray, { error: 'expected an array of token ids', abort: true })
  .superRefine((ids, context) => {
    const place = ids.findIndex((id) => !isTokenId(id));
    if (place >= 0) context.addIssue({ code: 'custom', path: [place], message: 'expected a token id (a non-negative integer)' });
  })
  .meta({ type: 'array', items: { type: 'integer', minimum: 0 } });

/** A list of at most `most` token ids. */
export const tokenIdsUpTo = (most: number) =>
  TokenIds.refine((ids) => ids.length <= most, `expected at most ${most} token ids`).meta({ ...TokenIds.meta(), maxItems: most });
