import type { DynamoDBRecord } from 'aws-lambda';
import { readAttributes } from '../../shared/database/attribute-values.ts';
import { logError } from '../../shared/logging/log.ts';
import type { Copies } from './copies.ts';

type Attributes = Parameters<typeof readAttributes>[0];

const ENTRY = 'entry#';

/**
 * Copies the entry of a record, under its log (an organization's id, or `platform`) and its own id. The log only grows:
 * a record of an update or a deletion is logged for an alarm, and the first copy stays.
 * @throws the SDK's errors
 */
export const copyRecord = async (copies: Copies, { eventName, dynamodb }: DynamoDBRecord): Promise<void> => {
  const { account, record } = readAttributes((dynamodb?.Keys ?? {}) as Attributes);
  const id = String(record).slice(ENTRY.length);
  if (eventName !== 'INSERT' || !dynamodb?.NewImage) {
    logError('audit_entry_changed', new Error('An entry of the audit log was replaced or deleted.'), {
      change: eventName,
      account,
      entry: id,
    });
    return;
  }
  const { account: _, record: __, ...entry } = readAttributes(dynamodb.NewImage as Attributes);
  await copies.add(
    `${account}/${id}.json`,
    JSON.stringify(entry, (_name, value) => (typeof value === 'bigint' ? value.toString() : value)),
  );
};
