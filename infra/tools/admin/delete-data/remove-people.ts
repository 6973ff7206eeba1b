import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { forEachItem } from './delete-items.ts';

const PERSONAL_FIELDS = ['user', 'user_id', 'metadata'] as const;

/**
 * Removes what an organization's usage events have of people, or only counts such events. What was billed stays as it
 * is. @returns how many there were
 */
export const removePeople = (database: SdkDatabase, table: string, organization: string, isDeleting: boolean): Promise<number> => {
  const events = {
    table,
    key: ['usage_bucket', 'usage_event'],
    reads: ['org_id', 'request_id', ...PERSONAL_FIELDS],
    isOwn: (item: Record<string, unknown>) =>
      item.org_id === organization && item.request_id !== undefined && PERSONAL_FIELDS.some((name) => item[name] !== undefined),
  };
  const remove = (Key: Record<string, unknown>) =>
    database.update({
      TableName: table,
      Key,
      UpdateExpression: `REMOVE ${PERSONAL_FIELDS.map((name) => `#${name}`).join(', ')}`,
      ConditionExpression: 'attribute_exists(request_id)',
      ExpressionAttributeNames: Object.fromEntries(PERSONAL_FIELDS.map((name) => [`#${name}`, name])),
    });
  return forEachItem(database, events, async (key) => (isDeleting ? remove(key) : undefined));
};
