import fc from 'fast-check';
import { MAX_USER_CHARACTERS } from '../../functions/rollup/organization-rows.ts';
import { NO_MODEL } from '../../functions/rollup/rollup.ts';
import { shardId, shardOf } from '../../shared/admission/shards.ts';
import { awsNameOf } from '../../shared/deployments/names.ts';
import { toBase62 } from '../../shared/ids/base62.ts';
import { idLike } from '../../shared/ids/id.ts';
import { type Bucket, keyDayOf, timeOf } from '../../shared/usage/bucket.ts';
import { Outcome, type UsageEvent } from '../../shared/usage/event.ts';
import type { Rollup } from '../../shared/usage/rollup-store.ts';
import { addEvent, noTotals } from '../../shared/usage/totals.ts';
import { BUCKET_MS } from '../../shared/usage/usage-store.ts';
import { newId } from './new-id.ts';

export const SHARDS = 2;
export const DAY_BEFORE = '2026-11-20';
export const DAY = '2026-11-21';
const DAY_START_MS = Date.parse(DAY);

/** The keys of one test, so that tests do not share rows; the second has shards, and the third is another organization's. */
export interface TestKeys {
  plain: string;
  sharded: string;
  foreign: string;
}
export const newKeys = (): TestKeys => ({ plain: newId('key'), sharded: newId('key'), foreign: newId('key') });
/** The organization of the first two keys, or of the third. */
export const organizationOf = (keys: TestKeys, keyId: string): string =>
  idLike('organization', keyId === keys.foreign ? keys.foreign : keys.plain);
export const shardsOfKey = (keys: TestKeys, keyId: string): number => (keyId === keys.sharded ? SHARDS : 1);

export const DEPLOYMENT = `dep_${'d'.repeat(18)}`;
export const MAX_TEST_USERS = 3;

/** The fields of an event except its key and request. */
const Facts = fc.record({
  model: fc.constantFrom('small', 'large', 'with#hash', undefined),
  prompt_tokens: fc.nat(100_000),
  cached_tokens: fc.nat(1_000),
  completion_tokens: fc.nat(10_000),
  source: fc.constantFrom('runtime' as const, 'estimated' as const),
  outcome: fc.constantFrom(...Outcome.options),
  error_code: fc.constantFrom('upstream_error', 'no_capacity', undefined),
  time_to_first_token_ms: fc.option(fc.nat(60_000)),
  duration_ms: fc.nat(700_000),
  // Beyond the integers that a double holds exactly.
  cost_nanos: fc.bigInt({ min: 0n, max: 2n ** 60n }),
  is_capped: fc.constantFrom(true as const, undefined),
  is_prepaid: fc.constantFrom(true as const, undefined),
  route: fc.constantFrom('chat.completions', 'completions', undefined),
  endpoint: fc.constantFrom(awsNameOf('sluice', DEPLOYMENT, 1), awsNameOf('sluice', DEPLOYMENT, 2), 'made-by-hand', undefined),
  // More users than `MAX_TEST_USERS`.
  user: fc.constantFrom('ann', 'bob', 'cid', 'dan', '(other)', 'a'.repeat(MAX_USER_CHARACTERS + 1), undefined),
  user_id: fc.constantFrom('ann', 'eve', undefined),
});

/** An event without its key id and request id: of one of three keys, within forty minutes around midnight, so on one of two days. */
export const Draft = fc.record({
  facts: Facts,
  key: fc.constantFrom('plain' as const, 'sharded' as const, 'foreign' as const),
  arrivedAtMs: fc.nat(2_400_000 - 1),
  isRatedAgain: fc.boolean(),
});
export type Draft = typeof Draft extends fc.Arbitrary<infer Value> ? Value : never;

type Facts = typeof Facts extends fc.Arbitrary<infer Value> ? Value : never;
type Optional = { [Field in keyof Facts as undefined extends Facts[Field] ? Field : never]?: NonNullable<Facts[Field]> };

/** Without the fields that are undefined. */
const known = (facts: Facts) =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Omit<Facts, keyof Optional> & Optional;

/** The events of these drafts; some have a second event that rates the request again. */
export const eventsOf = (keys: TestKeys, drafts: readonly Draft[]): UsageEvent[] =>
  drafts.flatMap(({ facts, key, arrivedAtMs, isRatedAgain }, i) => {
    const atMs = DAY_START_MS - 1_200_000 + arrivedAtMs;
    const event: UsageEvent = {
      ...known(facts),
      request_id: `req_${toBase62(atMs, 7)}${toBase62(i, 18)}`,
      key_id: keys[key],
      org_id: organizationOf(keys, keys[key]),
      finish_reason: null,
      admitted_at: atMs,
      price_version: '1',
    };
    const again = {
      ...event,
      request_id: `${event.request_id}#2`,
      prompt_tokens: 0,
      cached_tokens: 0,
      completion_tokens: 0,
      cost_nanos: -1n,
    };
    return isRatedAgain ? [event, again] : [event];
  });

/** The bucket in which an event is stored. */
export const bucketOf = (keys: TestKeys, event: UsageEvent): Bucket => ({
  // A later rating is in the shard of its request.
  shard: shardId(event.key_id, shardOf(event.request_id.split('#', 1)[0] as string, shardsOfKey(keys, event.key_id))),
  startMs: Math.floor(event.admitted_at / BUCKET_MS) * BUCKET_MS,
});

/** The sums of the events by ten minutes and by day. */
export const plainSums = (keys: TestKeys, events: readonly UsageEvent[]): Rollup[] => {
  const sums = new Map<string, Rollup>();
  const add = (rollup: Omit<Rollup, 'totals' | 'orgId'>, event: UsageEvent): void => {
    const id = JSON.stringify(rollup);
    const sum = sums.get(id) ?? { ...rollup, orgId: event.org_id, totals: noTotals() };
    sums.set(id, sum);
    addEvent(sum.totals, event);
  };
  for (const event of events) {
    const bucket = bucketOf(keys, event);
    const of = { ...keyDayOf(bucket), model: event.model ?? NO_MODEL };
    add({ ...of, bucket: { shard: bucket.shard, time: timeOf(bucket.startMs) } }, event);
    add(of, event);
  }
  return [...sums.values()];
};

/** The rollups in a fixed order, for comparison. */
export const inOrder = (rollups: readonly Rollup[]): Rollup[] => {
  const name = ({ keyId, day, bucket, model }: Rollup): string => JSON.stringify([keyId, day, bucket?.time, bucket?.shard, model]);
  return [...rollups].sort((a, b) => (name(a) < name(b) ? -1 : 1));
};
