import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { forEachItem } from './delete-items.ts';

/** What a usage event has of people: who its caller said that they were, and whatever the caller sent along. */
const PERSONAL = ['user', 'user_id', 'metadata'] as const;

/**
 * Removes what an organization's usage events have of people, or only counts such events. What was billed stays as it
 * is. @returns how many there were
 */
export const removePeople = (database: SdkDatabase, table: string, organization: string, isDeleting: boolean): Promise<number> => {
  const events = {
    table,
    key: ['usage_bucket', 'usage_event'],
    reads: ['org_id', 'request_id', ...PERSONAL],
    isOwn: (item: Record<string, unknown>) =>
      item.org_id === organization && item.request_id !== undefined && PERSONAL.some((name) => item[name] !== undefined),
  };
  const remove = (Key: Record<string, unknown>) =>
    database.update({
      TableName: table,
      Key,
      UpdateExpression: `REMOVE ${PERSONAL.map((name) => `#${name}`).join(', ')}`,
      ConditionExpression: 'attribute_exists(request_id)',
      ExpressionAttributeNames: Object.fromEntries(PERSONAL.map((name) => [`#${name}`, name])),
    });
  return forEachItem(database, events, async (key) => (isDeleting ? remove(key) : undefined));
};
