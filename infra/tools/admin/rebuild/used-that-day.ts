import * as z from 'zod';
import { ownerIdOf } from '../../../../shared/admission/item/shards.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { prefixes } from '../../../../shared/ids/id.ts';
import type { DeploymentOfDay } from './rebuild-gpu-days.ts';
import type { KeyShards } from './rebuild-key.ts';
import { scan } from './scan.ts';

// Enough for about a million keys.
const MAX_KEY_PAGES = 10_000;
// Clocks of two functions differ by less.
const MAX_CLOCK_SKEW_MS = 60_000;

const LimiterFacts = z.object({ id: z.string(), org: z.string(), shards: z.int().default(1), last_used: z.int().optional() });

/** The keys that were used since an instant, in any of their shards. */
export const listKeysUsed = async (database: SdkDatabase, table: string, sinceMs: number): Promise<KeyShards[]> => {
  const keys = new Map<string, KeyShards & { isUsed: boolean }>();
  for await (const item of scan(database, { TableName: table, ProjectionExpression: 'id, org, shards, last_used' }, MAX_KEY_PAGES)) {
    if (!String(item.id).startsWith(prefixes.key)) continue;
    const { id: limiterId, org: organization, shards, last_used } = LimiterFacts.parse(item);
    const id = ownerIdOf(limiterId);
    const earlier = keys.get(id);
    const isUsed = last_used !== undefined && last_used >= sinceMs - MAX_CLOCK_SKEW_MS;
    keys.set(id, { id, organization, shards: Math.max(earlier?.shards ?? 1, shards), isUsed: isUsed || (earlier?.isUsed ?? false) });
  }
  return [...keys.values()].filter(({ isUsed }) => isUsed);
};

/** All deployments there have ever been. */
export const listDeployments = async (database: SdkDatabase, table: string): Promise<DeploymentOfDay[]> => {
  const input = {
    TableName: table,
    FilterExpression: '#record = :deployment',
    ExpressionAttributeNames: { '#record': 'record' },
    ExpressionAttributeValues: { ':deployment': 'deployment' },
    ProjectionExpression: 'account, organization',
  };
  const deployments: DeploymentOfDay[] = [];
  for await (const { account, organization } of scan(database, input, MAX_KEY_PAGES))
    deployments.push({ id: String(account), organization: String(organization) });
  return deployments;
};
