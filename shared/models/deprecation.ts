import * as z from 'zod';
import type { Model } from './model.ts';

/** A deprecation in replies. */
export const DeprecationNotice = z
  .object({
    deprecated_at: z.int().meta({ description: 'Unix time in seconds. Can be in the future.' }),
    sunset_at: z.int().nullable().meta({ description: 'When the model will be removed. Unix time in seconds; null: not decided.' }),
    successor: z.string().nullable().meta({ description: 'The model to use instead.' }),
  })
  .nullable()
  .meta({ description: 'The deprecation of the model; null: it is not deprecated.' });
export type DeprecationNotice = z.infer<typeof DeprecationNotice>;

export const deprecationNotice = ({ deprecation }: Pick<Model, 'deprecation'>): DeprecationNotice =>
  deprecation
    ? { deprecated_at: deprecation.deprecated_at, sunset_at: deprecation.sunset_at ?? null, successor: deprecation.successor ?? null }
    : null;

const NONE: Readonly<Record<string, string>> = {};

// RFC 9110, 5.6.7.
const httpDate = (seconds: number): string => new Date(seconds * 1_000).toUTCString();

/**
 * The headers that announce a model's deprecation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and its successor's
 * name.
 */
export const deprecationHeaders = ({ deprecation }: Pick<Model, 'deprecation'>): Readonly<Record<string, string>> => {
  if (!deprecation) return NONE;
  const { deprecated_at, sunset_at, successor } = deprecation;
  return {
    deprecation: `@${deprecated_at}`,
    ...(sunset_at !== undefined && { sunset: httpDate(sunset_at) }),
    // Percent-encoded for the header; encodeURI throws on lone surrogates.
    ...(successor !== undefined && { 'x-sluice-successor': encodeURI(successor.toWellFormed()) }),
  };
};
