import { ConditionFailed } from '../../shared/database/database.ts';
import type { TestDatabase } from './database.ts';

/** When keys were created: before all usage. */
export const CREATED_MS = Date.parse('2024-01-01');

/** Notes a key's last use in its limiter, as an admission does, unless a later use is known. */
export const noteUse = async (
  { database, tables }: Pick<TestDatabase, 'database' | 'tables'>,
  keyId: string,
  atMs: number,
): Promise<void> => {
  const write = database.update({
    TableName: tables.Keys as string,
    Key: { id: keyId },
    UpdateExpression: 'SET last_used = :at',
    ConditionExpression: 'attribute_exists(id) AND (attribute_not_exists(last_used) OR last_used < :at)',
    ExpressionAttributeValues: { ':at': atMs },
  });
  await write.catch((error: unknown) => {
    if (!(error instanceof ConditionFailed)) throw error;
  });
};
