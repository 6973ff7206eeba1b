import { IN_FLIGHT } from '../../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf } from '../../../../shared/admission/item/shards.ts';
import { keyIdOfUserLimiter } from '../../../../shared/admission/item/user-limiter.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { prefixes } from '../../../../shared/ids/id.ts';
import { scan } from './scan.ts';

// Enough for about 400 million limiters.
const MAX_PAGES = 200_000;

/** The ids of limiters that are in no list of their organization's. */
export interface UnlistedLimiters {
  /** The items of each project. */
  projects: ReadonlyMap<string, readonly string[]>;
  /** The limiters of the end users of each key. */
  users: ReadonlyMap<string, readonly string[]>;
}

/** Finds the limiters of projects and end users, from a scan of the whole table `keys`. */
export const listUnlisted = async (database: SdkDatabase, table: string): Promise<UnlistedLimiters> => {
  const projects: string[] = [];
  const users: string[] = [];
  const input = { TableName: table, ProjectionExpression: 'id', FilterExpression: `attribute_exists(${IN_FLIGHT})` };
  for await (const { id } of scan(database, input, MAX_PAGES)) {
    const limiterId = String(id);
    if (limiterId.startsWith(prefixes.project)) projects.push(limiterId);
    else if (keyIdOfUserLimiter(limiterId) !== limiterId) users.push(limiterId);
  }
  return { projects: Map.groupBy(projects, ownerIdOf), users: Map.groupBy(users, keyIdOfUserLimiter) };
};
