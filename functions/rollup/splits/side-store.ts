import * as z from 'zod';
import type { Database } from '../../../shared/database/database.ts';
import { queryItems } from '../../../shared/database/query.ts';
import type { Bucket } from '../../../shared/usage/bucket.ts';
import { expiresAt } from '../../../shared/usage/organization-totals.ts';
import { createRowStore } from '../../../shared/usage/row-store.ts';
import type { SideCount } from './count-sides.ts';

// Each row has at least one request, so this many megabytes have more than a split can require.
const MAX_PAGES = 20;

const Stored = z.object({ n: z.int().min(1), failed: z.int().min(0) });

const partitionOf = (splitId: string): string => `split#${splitId}`;

/**
 * The requests on the new sides of splits in the `usage` table, by bucket. The only code that knows their keys. A row
 * has the counts of a whole bucket, so writing it again changes nothing.
 */
export const createSideStore = (database: Database, table: string) => {
  const rows = createRowStore(database, table);
  return {
    /** Puts the counts of a bucket, unless the stored ones are of at least as many requests. */
    put: ({ shard, startMs }: Bucket, { splitId, requests, failed }: SideCount): Promise<boolean> =>
      rows.put({
        usage_bucket: partitionOf(splitId),
        usage_event: `${new Date(startMs).toISOString()}#${shard}`,
        n: requests,
        ...{ failed, expires_at: expiresAt('ten_minutes', startMs) },
      }),

    /** The newest requests of a split in whole buckets: at least `least`, or all. */
    newest: async (splitId: string, least: number): Promise<Pick<SideCount, 'requests' | 'failed'>> => {
      const query = {
        TableName: table,
        KeyConditionExpression: 'usage_bucket = :partition',
        ExpressionAttributeValues: { ':partition': partitionOf(splitId) },
        ConsistentRead: true,
        ScanIndexForward: false,
      };
      const sum = { requests: 0, failed: 0 };
      for await (const item of queryItems(database, query, MAX_PAGES)) {
        const { n, failed } = Stored.parse(item);
        sum.requests += n;
        sum.failed += failed;
        if (sum.requests >= least) break;
      }
      return sum;
    },
  };
};

export type SideStore = ReturnType<typeof createSideStore>;
