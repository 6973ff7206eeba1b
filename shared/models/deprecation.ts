import * as z from 'zod';
import type { Model } from './model.ts';

/** A deprecation as it goes out. */
export const ToldDeprecation = z
  .object({
    deprecated_at: z.int().meta({ description: 'Unix time in seconds. It may be still to come.' }),
    sunset_at: z.int().nullable().meta({ description: 'When it is to go. Unix time in seconds; null: not decided.' }),
    successor: z.string().nullable().meta({ description: 'The model to use instead.' }),
  })
  .nullable()
  .meta({ description: 'Whether the model goes, and by what it is followed; null: it stays.' });
export type ToldDeprecation = z.infer<typeof ToldDeprecation>;

export const toldDeprecation = ({ deprecation }: Pick<Model, 'deprecation'>): ToldDeprecation =>
  deprecation
    ? { deprecated_at: deprecation.deprecated_at, sunset_at: deprecation.sunset_at ?? null, successor: deprecation.successor ?? null }
    : null;

const NONE: Readonly<Record<string, string>> = {};

/** Seconds as a date of HTTP (RFC 9110, 5.6.7). */
const httpDate = (seconds: number): string => new Date(seconds * 1_000).toUTCString();

/** The headers that announce on a model's replies that it goes: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and its successor's name. */
export const deprecationHeaders = ({ deprecation }: Pick<Model, 'deprecation'>): Readonly<Record<string, string>> => {
  if (!deprecation) return NONE;
  const { deprecated_at, sunset_at, successor } = deprecation;
  return {
    deprecation: `@${deprecated_at}`,
    ...(sunset_at !== undefined && { sunset: httpDate(sunset_at) }),
    // What cannot stand in a header is percent-encoded; half a character would not even be that.
    ...(successor !== undefined && { 'x-sluice-successor': encodeURI(successor.toWellFormed()) }),
  };
};
