import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { AWS_LIMITS } from '../../../infra/tools/capacity/aws-limits.ts';
import { type PresentedKey, parseSecret } from '../../../shared/admission/item/secret.ts';
import { nextToSplit, shardId } from '../../../shared/admission/item/shards.ts';
import { planSplit } from '../../../shared/admission/plans/split-shard.ts';
import { EPOCH_INDEX, ORGANIZATION_INDEX } from '../../../shared/admission/stores/limiter-store.ts';
import { prefixes, RANDOM_CHARACTERS } from '../../../shared/ids/id.ts';
import { openLimiters, type TestLimiters } from '../emulators/limiters.ts';
import { createKey } from '../fixtures/create-key.ts';
import { limitOrganization } from '../fixtures/limit-organization.ts';
import { createSimulatedClock } from './clock.ts';
import { createSimulatedDatabase } from './database.ts';
import { createLimitAuditor } from './limit-auditor.ts';
import type { SimulatedLoad } from './load.ts';
import { createThroughput, NEW_TABLE, type Throughput } from './throughput.ts';

export const KEYS = 'keys';
export const USAGE = 'usage';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LATENCY_MS = { call: AWS_LIMITS.databaseCallMs.value, transaction: AWS_LIMITS.databaseTransactionMs.value };

/** A clock, the tables with what they serve, and who counts what the limits allow. */
export const createWorld = ({ seed, startMs, warm, quota }: SimulatedLoad) => {
  const random = seededRandom(seed);
  const clock = createSimulatedClock(startMs);
  const auditor = createLimitAuditor(KEYS, USAGE);
  const keys = createThroughput(clock.now, warm?.keys, quota);
  const usage = createThroughput(clock.now, warm?.usage, quota);
  // An index is not prepared with its table.
  const epochs = createThroughput(clock.now, NEW_TABLE, quota);
  const indexes = [
    { name: EPOCH_INDEX, attribute: 'ep', throughput: epochs },
    // No admission changes it.
    { name: ORGANIZATION_INDEX, attribute: 'org', throughput: createThroughput(clock.now) },
  ];
  const tables = {
    [KEYS]: { partitionKey: 'id', throughput: keys, indexes },
    [USAGE]: { partitionKey: 'usage_bucket', sortKey: 'usage_event', throughput: usage },
  };
  return {
    random,
    clock,
    auditor,
    database: createSimulatedDatabase({ clock, random, tables, onChange: auditor.onChange, latencyMs: LATENCY_MS }),
    throughputs: new Map<string, Throughput>([
      [KEYS, keys],
      [`${KEYS}/${EPOCH_INDEX}`, epochs],
      [USAGE, usage],
    ]),
    /** Random characters of an id. */
    textOf: (length: number): string => Array.from({ length }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join(''),
  };
};

export type World = ReturnType<typeof createWorld>;

const splitInto = async (limiters: TestLimiters, organization: string, shards: number, nowMs: number): Promise<void> => {
  for (let before = 1; before < shards; before++) {
    const parent = await limiters.get(shardId(organization, nextToSplit(before, 1)[0] as number));
    const split = parent && planSplit(parent, shardId(organization, before), nowMs);
    if (!split || !(await limiters.split(organization, [split], before))) throw new Error(`${organization} can't be split.`);
  }
};

/** Creates an organization with its keys, in no time. */
export const createCallers = async (
  { database, textOf }: World,
  { startMs, organization, creditNanos, organizationShards = 1, ...load }: SimulatedLoad,
): Promise<{ organizationId: string; keys: PresentedKey[]; limiters: TestLimiters }> => {
  const limiters = openLimiters(database.open(1, { isFree: true }), KEYS);
  const organizationId = prefixes.organization + textOf(RANDOM_CHARACTERS);
  if (organization) {
    await limitOrganization(limiters, organizationId, { ...organization, isPrepaid: creditNanos !== undefined }, startMs);
    if (creditNanos !== undefined) await limiters.addGrant(organizationId, 1, creditNanos);
    await splitInto(limiters, organizationId, organizationShards, startMs);
  }
  const keys: PresentedKey[] = [];
  for (let key = 0; key < load.keys; key++) {
    const id = prefixes.key + textOf(RANDOM_CHARACTERS);
    const { secret } = await createKey(limiters, { ...load.key, scope: 'serverless', org: organizationId }, id);
    keys.push(parseSecret(secret) as PresentedKey);
  }
  return { organizationId, keys, limiters };
};
