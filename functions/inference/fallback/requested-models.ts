import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { MAX_FALLBACKS } from '../../../shared/models/max-fallbacks.ts';

const Name = z.string().min(1).max(256);

/** The field `models`: names to try in their order. The first one can repeat `model`. */
export const RequestedModels = firstFault(z.array(Name).max(MAX_FALLBACKS + 1)).nullish();

/** The field `fallbacks` of a message. */
export const RequestedFallbacks = firstFault(z.array(z.looseObject({ model: Name })).max(MAX_FALLBACKS)).nullish();

interface WithModels {
  model: string;
  models?: string[] | null | undefined;
}

/** The fallbacks that a request names in `models`; undefined if it doesn't have the field. */
export const modelsAfterFirst = ({ model, models }: WithModels): string[] | undefined => models?.filter((name) => name !== model);

/** The fault of a request whose `models` has too many names besides `model`. */
export const modelsFault = (request: WithModels): { path: string[]; message: string } | undefined =>
  new Set(modelsAfterFirst(request)).size > MAX_FALLBACKS
    ? { path: ['models'], message: `expected at most ${MAX_FALLBACKS} models besides model` }
    : undefined;
