import * as z from 'zod';

const MAX_CHARACTERS = 200;

/** A query parameter that searches a few texts of a resource. @param searched such as `name or id` */
export const textFilter = (searched: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(MAX_CHARACTERS)
    .optional()
    .meta({ description: `Only those whose ${searched} contains this text, in upper or lower case.` });

/** True if one of the texts contains what is searched, or if nothing is. */
export const containsText = (searched: string | undefined, texts: readonly string[]): boolean =>
  searched === undefined || texts.some((text) => text.toLowerCase().includes(searched.toLowerCase()));
