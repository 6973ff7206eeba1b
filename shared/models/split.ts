import * as z from 'zod';
import { evenShare } from './even-share.ts';
import { ModelName } from './model.ts';

const UnixSeconds = z.int().min(0);

/** The shares and the bound of a split, which its owner sets. */
export const splitFields = {
  model: ModelName.meta({ description: 'The model that answers on the new side.' }),
  percent: z.int().min(1).max(99).meta({ description: 'The percentage of the callers on the new side.' }),
  max_error_percent: z.int().min(1).max(99).optional().meta({
    description:
      'The split stops, and all callers return to the model of the alias, if a higher percentage of the newest requests of the new side fails. Default: it never stops by itself.',
  }),
  min_requests: z
    .int()
    .min(10)
    .max(10_000)
    .default(100)
    .meta({ description: 'The number of newest requests of the new side from which the percentage of errors is computed.' }),
} as const;

/** The part of an alias's callers that another model answers. */
export const ModelSplit = z.strictObject({
  /** Each start has an id of its own, so that errors are counted from the start. */
  id: z.string(),
  ...splitFields,
  started_at: UnixSeconds,
  /** Set when it stopped by itself. */
  stopped_at: UnixSeconds.optional(),
  /** The newest requests of the new side then. */
  stopped_by: z.strictObject({ requests: z.int().min(1), failed_requests: z.int().min(1) }).optional(),
});
export type ModelSplit = z.output<typeof ModelSplit>;

/** The side of a split on which a request was answered: with the alias's own model or with the other one. */
export type SplitSide = 'base' | 'new';

/**
 * The side of a caller or a conversation. It depends on nothing else, so that a change of the percentage moves only the
 * difference.
 * @param affinity undefined: it is not known who calls, which is always the base
 */
export const sideOf = (
  alias: string,
  { model, percent }: Pick<ModelSplit, 'model' | 'percent'>,
  affinity: string | undefined,
): SplitSide => (affinity !== undefined && evenShare(JSON.stringify([alias, model, affinity])) * 100 < percent ? 'new' : 'base');
