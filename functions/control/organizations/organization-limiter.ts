import type { ContentSetting, PayloadLogSetting } from '../../../shared/admission/item/key-item.ts';
import {
  type Configuration,
  type LimiterItem,
  limitConfiguration,
  limitsOf,
  nanosOfStored,
  newLimiterItem,
  shardsOf,
  WHOLE_ATTRIBUTES,
  wholeLimitsOf,
} from '../../../shared/admission/item/limiter-item.ts';
import type { Limits } from '../../../shared/admission/item/limits.ts';
import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import { mergeShards } from '../../../shared/admission/plans/merge-shards.ts';
import { redivide, type ShardPart } from '../../../shared/admission/plans/share-limits.ts';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import { beginSpreading, MAX_CHANGED_AT_ONCE } from '../../../shared/admission/stores/spread-configuration.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { retryOvertaken } from '../retry-overtaken.ts';

interface LimiterSettings {
  status: 'active' | 'suspended';
  limits: Limits;
  /** Default: it is the organization's own limiter. */
  organization?: string;
}

/**
 * Plans the writes that replace all limits of an organization or a project and its status, on all of its shards. They
 * fail with ChangedMeanwhile if a shard counts too much or is added meanwhile. If the shards are too many for a
 * transaction, only the first write is returned, and the others must be spread. Counters stay. A first budget counts
 * from now, not from the start of the month.
 * @param changes `status`: existing limits stay; a new limiter gets the given ones
 */
export const toSetLimiter = async (
  limiters: LimiterConfigurationStore,
  id: string,
  { status, limits, organization = id }: LimiterSettings,
  changes: 'limits' | 'status',
  nowMs: number,
): Promise<{ writes: Write[]; isSpread: boolean }> => {
  const items = await readAllShards(limiters, id);
  const [own] = items;
  if (!own) {
    const { set } = limitConfiguration(limits);
    const item = newLimiterItem(id, organization, { set: { ...set, status } });
    return { writes: [{ ...limiters.toCreate(item), refused: () => new ChangedMeanwhile() }], isSpread: false };
  }
  const parts = changes === 'limits' ? redivide(limits, items, nowMs) : undefined;
  const shards = shardsOf(own);
  const configurationOf = (part: ShardPart | undefined): Configuration => {
    if (!part) return { set: { status }, remove: [] };
    const { set, remove } = limitConfiguration(part.limits);
    return shards === 1
      ? { set: { ...set, status }, remove }
      : { set: { ...set, ...wholeLimitsOf(limits), status }, remove: [...remove, ...missingWholeLimits(limits)] };
  };
  // An organization that gets another shard meanwhile has changed, and so has one whose limits are still being changed.
  if (items.length > MAX_CHANGED_AT_ONCE || own.pending) {
    const budgets = changes === 'limits' ? limits.budgets : own.pending ? nanosOfStored(own.pending) : budgetsOfAll(items);
    const first = beginSpreading(own, configurationOf(parts?.[0]), parts?.[0]?.limits ?? limitsOf(own), budgets, nowMs);
    return { writes: [limiters.toConfigure(id, first, { cfg: own.cfg, shards })], isSpread: true };
  }
  const writes = items.map((item, i) => {
    const part = parts?.[i];
    const expected = { ...(part && { ...part, atMs: nowMs }), ...(item === own && { shards }) };
    return limiters.toConfigure(item.id, configurationOf(part), expected);
  });
  return { writes, isSpread: false };
};

// Requests of a busy organization, and its new shards, can make the change fail this often; then it returns 503.
const MAX_TRIES = 8;

/**
 * Commits a change together with the limits of its organization or project, as `toSetLimiter` plans them.
 * @param save commits the change with further writes
 * @throws the errors of `save`; 503 if requests change the limiter each time
 */
export const saveWithLimiter = async (
  limiters: LimiterConfigurationStore,
  id: string,
  settings: LimiterSettings,
  changes: 'limits' | 'status',
  nowMs: number,
  save: (writes: readonly Write[]) => Promise<void>,
): Promise<void> => {
  const mustSpread = await retryOvertaken({ what: `The limiter of ${id}`, maxTries: MAX_TRIES, by: [ChangedMeanwhile] }, async () => {
    const { writes, isSpread } = await toSetLimiter(limiters, id, settings, changes, nowMs);
    await save(writes);
    return isSpread;
  });
  if (mustSpread) await limiters.spread(id, nowMs);
};

// A shard must not keep the whole limits that were removed.
const missingWholeLimits = (limits: Limits): (keyof LimiterItem & string)[] => {
  const whole = wholeLimitsOf(limits);
  return WHOLE_ATTRIBUTES.filter((name) => whole[name] === undefined);
};

const budgetsOfAll = (items: readonly LimiterItem[]): Limits['budgets'] =>
  limitsOf(mergeShards(items as [LimiterItem, ...LimiterItem[]])).budgets;

const MAX_PARALLEL = 16;

/**
 * Marks the keys of an organization that has a limiter, from their next request on. The mark is never removed. A key
 * that is created concurrently is marked by its creation; keys that a crash leaves unmarked, by the sweep or a repeated
 * request.
 * @param keys the limiters of all active keys
 * @throws 503 if one could not be marked
 */
export const markKeys = async (limiters: LimiterStore, organization: string, keys: readonly string[]): Promise<void> => {
  await forAll(keys, limiters.markOrganizationLimited);
  logInfo('keys_marked', { organization, limiters: keys.length });
};

// During an outage, each failure is a 503.
const forAll = async (ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> => {
  const failures = await inParallel(ids, MAX_PARALLEL, work);
  const outage = failures.find((failure) => failure instanceof ApiError);
  if (outage) throw outage;
  throwFailures(failures);
};

// A key's own item comes before its shards, because a change that is being spread over the shards copies the own item.
const forAllOwnFirst = async (keys: readonly string[], work: (id: string) => Promise<void>): Promise<void> => {
  const isOwn = (id: string): boolean => ownerIdOf(id) === id;
  for (const ids of [keys.filter(isOwn), keys.filter((id) => !isOwn(id))]) await forAll(ids, work);
};

/**
 * Gives all keys of an organization its setting for content, from each key's next request on.
 * @param keys the limiters of all active keys
 * @throws 503 if one could not be written
 */
export const setContentOfKeys = async (
  limiters: LimiterConfigurationStore,
  organization: string,
  setting: ContentSetting,
  keys: readonly string[],
): Promise<void> => {
  await forAllOwnFirst(keys, (id) => limiters.setContent(id, setting));
  logInfo('content_setting_spread', { organization, may_store: setting.mayStore, limiters: keys.length });
};

/**
 * Gives all keys of an organization its setting for the payload log, from each key's next request on.
 * @param keys the limiters of all active keys
 * @throws 503 if one could not be written
 */
export const setPayloadLogOfKeys = async (
  limiters: LimiterConfigurationStore,
  organization: string,
  setting: PayloadLogSetting,
  keys: readonly string[],
): Promise<void> => {
  await forAllOwnFirst(keys, (id) => limiters.setPayloadLog(id, setting));
  logInfo('payload_log_spread', { organization, is_on: setting.isOn, limiters: keys.length });
};
