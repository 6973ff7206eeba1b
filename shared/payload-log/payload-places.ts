import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { HOUR_MS, SECOND_MS } from '../time/units.ts';
import { MAX_WAITING, type WaitingPayload } from './waiting-payloads.ts';

// DynamoDB deletes a count some time after this: no payload waits longer.
const RETENTION_MS = 48 * HOUR_MS;

/**
 * The places of each organization for payloads that wait for redaction, counted by the hour in which they were sent.
 */
export interface PayloadPlaces {
  /** Takes a place. @returns false if the organization has none left */
  take: (organization: string, nowMs: number) => Promise<boolean>;
  /** Gives a place back. Places that a crash leaves taken are free again in the next hour. */
  release: (payload: Pick<WaitingPayload, 'organization' | 'sentAtMs'>) => Promise<void>;
}

/** The counts in the table `Observability`. */
export const createPayloadPlaces = (database: Database, table: string): PayloadPlaces => {
  const keyOf = (organization: string, atMs: number) => ({
    account: organization,
    record: `payloads-waiting#${Math.floor(atMs / HOUR_MS)}`,
  });
  const names = { '#count': 'count' };
  return {
    take: (organization, nowMs) =>
      isWritten(
        database.update({
          TableName: table,
          Key: keyOf(organization, nowMs),
          UpdateExpression: 'SET expires_at = :expires ADD #count :one',
          ConditionExpression: 'attribute_not_exists(#count) OR #count < :most',
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ':expires': Math.ceil((nowMs + RETENTION_MS) / SECOND_MS), ':one': 1, ':most': MAX_WAITING },
        }),
      ),
    release: async ({ organization, sentAtMs }) => {
      await isWritten(
        database.update({
          TableName: table,
          Key: keyOf(organization, sentAtMs),
          UpdateExpression: 'ADD #count :less',
          ConditionExpression: '#count > :none',
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ':less': -1, ':none': 0 },
        }),
      );
    },
  };
};
