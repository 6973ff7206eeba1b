import { isDeepStrictEqual } from 'node:util';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { ModelAlias } from '../../../shared/models/model-alias.ts';
import type { ModelSplit } from '../../../shared/models/split.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { NewModelAlias, NewSplit } from './alias-resource.ts';

const hasValuesOf = (
  { id: _, started_at: __, stopped_at: ___, stopped_by: ____, ...stored }: ModelSplit,
  values: Omit<NewSplit, 'restart'>,
): boolean => isDeepStrictEqual(stored, { ...values });

const splitOf = (before: ModelSplit | undefined, { restart, ...values }: NewSplit, nowMs: number): ModelSplit => {
  const isStopped = before?.stopped_at !== undefined;
  if (before && hasValuesOf(before, values) && !(isStopped && restart)) return before;
  return { id: newTimedId('split', nowMs), ...values, started_at: unixSeconds(nowMs) };
};

/**
 * An alias as it will be, still with its version of before. A split whose values stay the same goes on as it is, also
 * if it has stopped, unless it is to start again.
 */
export const planAlias = (
  alias: string,
  before: ModelAlias | undefined,
  { model, fallbacks, split }: NewModelAlias,
  nowMs: number,
): ModelAlias => ({
  alias,
  model,
  fallbacks,
  ...(split && { split: splitOf(before?.split, split, nowMs) }),
  ...(before?.version !== undefined && { version: before.version }),
});
