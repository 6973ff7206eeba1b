import { ownerIdOf, shardNumberOf } from '../../../../shared/admission/item/shards.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { bucketOfKey, isBucketKey, keyDayOf } from '../../../../shared/usage/bucket.ts';
import { deploymentDayOf } from '../../../../shared/usage/gpu-event-store.ts';
import { keyDayOfRow } from '../../../../shared/usage/rollup-store.ts';
import type { DeploymentOfDay } from './rebuild-gpu-days.ts';
import type { KeyShards } from './rebuild-key.ts';
import { scan } from './scan.ts';

// Enough for about 400 million rows.
const MAX_TOTALS_PAGES = 200_000;

/** The keys and deployments with events on a UTC day. */
export interface DayOfUsage {
  day: string;
  keys: KeyShards[];
  deployments: DeploymentOfDay[];
}

/**
 * The UTC days that have events or totals, the oldest first, from a scan of the whole table `usage`.
 * @param shardsOf the number of a key's shards, if it is known; otherwise it follows from the key's events
 */
export const listDaysOfUsage = async (
  database: SdkDatabase,
  table: string,
  shardsOf: (keyId: string) => number | undefined,
): Promise<DayOfUsage[]> => {
  const days = new Map<string, { keys: Map<string, KeyShards>; deployments: Map<string, DeploymentOfDay> }>();
  const ofDay = (day: string) => {
    const usageOfDay = days.get(day) ?? { keys: new Map(), deployments: new Map() };
    days.set(day, usageOfDay);
    return usageOfDay;
  };
  const addKey = ({ keyId, day }: { keyId: string; day: string }, organization: string, shard: number): void => {
    const { keys } = ofDay(day);
    const shards = Math.max(shardsOf(keyId) ?? 1, keys.get(keyId)?.shards ?? 1, shard + 1);
    keys.set(keyId, { id: keyId, shards, organization });
  };
  const input = { TableName: table, ProjectionExpression: 'usage_bucket, usage_event, org_id' };
  for await (const row of scan(database, input, MAX_TOTALS_PAGES)) {
    const [bucket, event, organization] = [String(row.usage_bucket), String(row.usage_event), String(row.org_id)];
    const deployment = deploymentDayOf(bucket);
    const total = keyDayOfRow({ usage_bucket: bucket, usage_event: event });
    if (deployment) ofDay(deployment.day).deployments.set(deployment.deploymentId, { id: deployment.deploymentId, organization });
    else if (total) addKey(total, organization, 0);
    else if (isBucketKey(bucket)) {
      const { shard } = bucketOfKey(bucket);
      addKey(keyDayOf(bucketOfKey(bucket)), organization, ownerIdOf(shard) === shard ? 0 : shardNumberOf(shard));
    }
  }
  return [...days]
    .map(([day, { keys, deployments }]) => ({ day, keys: [...keys.values()], deployments: [...deployments.values()] }))
    .sort((one, other) => (one.day < other.day ? -1 : 1));
};
