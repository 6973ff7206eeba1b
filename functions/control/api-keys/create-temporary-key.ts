import { inFlightOf, type LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { newSecret } from '../../../shared/admission/item/secret.ts';
import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import { commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { InvalidRequest, PreconditionFailed } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { KeyBudgets, KeyLimits } from '../limits/limits.ts';
import { retryOvertaken } from '../retry-overtaken.ts';
import { type ApiKeyWithSecret, AUDITED_TEXTS, type KeyPurpose, type NewApiKey, type StoredApiKey } from './api-key.ts';
import { toWire } from './api-key-rights.ts';
import { type ApiKeyDependencies, markIfLimited, newKey, planItems } from './create-api-key.ts';
import type { KeySeries } from './temporary-key-store.ts';

/** The rules of a series of temporary keys. */
export interface TemporaryKeyRules {
  purpose: Exclude<KeyPurpose, 'standard'>;
  series: KeySeries;
  lifetimeSeconds: number;
  /** The most keys of the series at a time. */
  maxLive: number;
  /** The error for one more, and the seconds until the first of them ends. */
  refused: (seconds: number) => Error;
  /** Called once when the series has room. @throws the error for too many creations */
  count: () => Promise<void>;
  /** More conditions of the creation. */
  checks?: readonly Write[];
  /** More facts for the audit log. */
  facts?: Readonly<Record<string, unknown>>;
}

type TemporaryKeyFields = Pick<
  NewApiKey,
  'name' | 'scope' | 'models' | 'limits' | 'budgets' | 'per_user' | 'no_content' | 'no_fallback' | 'project_id' | 'metadata'
>;

// A temporary key has a single limiter item, so that its id can be used again with other limits.
const MAX_CONCURRENCY = 64;
const MAX_REQUESTS_PER_MINUTE = 24_000;

/** Rejects limits that a temporary key can't have. @throws 400 */
export const checkTemporaryLimits = (limits: NewApiKey['limits'], param: string): void => {
  if (limits && (limits.concurrency > MAX_CONCURRENCY || limits.requests_per_minute > MAX_REQUESTS_PER_MINUTE))
    throw new InvalidRequest({
      param,
      message: `A temporary API key can have at most ${MAX_CONCURRENCY} concurrent requests and ${MAX_REQUESTS_PER_MINUTE} requests a minute. Lower '${param}'.`,
    });
};

// An id whose last key has ended, with its row and its limiter.
interface FreeId {
  key: StoredApiKey;
  item: LimiterItem;
}

// Each time, another creation has taken the id, or the organization has changed.
const MAX_TRIES = 8;
// The limiters of this many ids are read in search of one without requests in flight.
const MAX_FREE_READ = 10;
// The wait if all ids that are free have requests in flight.
const BUSY_SECONDS = 30;

// Concurrent creations begin their search at different ids.
const fromRandomPlace = <Item>(items: readonly Item[]): Item[] => {
  const start = Math.floor(Math.random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
};

const findFree = async (
  { apiKeys, limiters }: ApiKeyDependencies,
  { series, maxLive, refused }: TemporaryKeyRules,
  nowSeconds: number,
): Promise<FreeId | undefined> => {
  const places = await apiKeys.temporary.list(series, maxLive);
  const ended = fromRandomPlace(places.filter(({ endsAt }) => endsAt <= nowSeconds)).slice(0, MAX_FREE_READ);
  const item = (await limiters.getMany(ended.map(({ id }) => id))).find((each) => inFlightOf(each) === 0);
  if (item) return { item, key: await apiKeys.get(series.organization, item.id) };
  if (places.length < maxLive) return undefined;
  const ends = places.map(({ endsAt }) => endsAt).filter((endsAt) => endsAt > nowSeconds);
  throw refused(ended.length > 0 ? BUSY_SECONDS : Math.min(...ends) - nowSeconds);
};

const plan = (
  actor: Actor,
  fields: TemporaryKeyFields,
  { purpose, series, lifetimeSeconds }: TemporaryKeyRules,
  free: FreeId | undefined,
) => {
  const { nowMs } = actor.origin;
  const id = free?.key.id ?? newTimedId('key', nowMs);
  const { secret, hash } = newSecret(fields.scope, id);
  const limits = fields.limits ?? KeyLimits.parse({});
  const expires_at = unixSeconds(nowMs) + lifetimeSeconds;
  const body = { ...fields, limits, budgets: fields.budgets ?? KeyBudgets.parse({}), expires_at };
  const { counted_for: _, ...row } = newKey(actor, body, { id, organization: series.organization, secret });
  const counted = free?.key.counted_concurrency ?? 0;
  const key: StoredApiKey = {
    ...row,
    purpose,
    version: free?.key.version ?? 1,
    shards: 1,
    load_shards: 1,
    series: series.name,
    counted_concurrency: Math.max(counted, limits.concurrency),
  };
  return { key, secret, hash, moreConcurrency: Math.max(0, limits.concurrency - counted) };
};

const tryToCreate = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  fields: TemporaryKeyFields,
  rules: TemporaryKeyRules,
  free: FreeId | undefined,
): Promise<ApiKeyWithSecret> => {
  const { series, maxLive, refused, checks = [], facts } = rules;
  const { apiKeys, limiters, payloadLogs } = deps;
  const { key, secret, hash, moreConcurrency } = plan(actor, fields, rules, free);
  const planned = await planItems(deps, actor, key, { hash, moreConcurrency });
  const item = planned.items[0] as (typeof planned.items)[number];
  const wire = { ...(await toWire(limiters, key)), last_used_at: null, version: free ? key.version + 1 : key.version };
  const place = { id: key.id, endsAt: Number(key.expires_at) };
  const target = { type: 'api_key', id: key.id };
  const change = { action: 'api_key.created', organization: key.organization, target, after: { ...facts, ...wire }, texts: AUDITED_TEXTS };
  const added = { max: maxLive, refused: () => refused(BUSY_SECONDS) };
  await commit(deps, actor.origin, change, [
    ...deps.users.toCheckActor(actor),
    ...planned.writes,
    ...checks,
    ...(free
      ? [
          apiKeys.toReplace(key),
          apiKeys.temporary.toSet(series, place),
          limiters.toRenew(item, free.item),
          payloadLogs.toForget({ organization: key.organization, apiKey: key.id }),
        ]
      : [apiKeys.toCreateRow(key), ...apiKeys.temporary.toAdd(series, place, added), limiters.toCreate(item)]),
    apiKeys.toKeepSecret(key, { hash }),
  ]);
  await markIfLimited(deps, planned);
  return { ...wire, secret };
};

/**
 * Creates a key that expires by itself, in one transaction. It gets an id of its series whose last key has expired, or
 * else a new one. With such an id, the key has counted nothing, and no earlier secret works.
 * @throws `refused` of the rules if too many are live, the errors of its count and checks, 503 after too many conflicts
 */
export const createTemporaryKey = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  fields: TemporaryKeyFields,
  rules: TemporaryKeyRules,
): Promise<ApiKeyWithSecret> => {
  return retryOvertaken(
    { what: `The series ${rules.series.name}`, maxTries: MAX_TRIES, by: [ChangedMeanwhile, PreconditionFailed] },
    async (tries) => {
      const free = await findFree(deps, rules, unixSeconds(actor.origin.nowMs));
      if (tries === 1) await rules.count();
      return tryToCreate(deps, actor, fields, rules, free);
    },
  );
};
