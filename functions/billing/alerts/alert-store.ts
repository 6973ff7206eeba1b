import * as z from 'zod';
import type { Database } from '../../../shared/database/database.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Nanos } from '../../../shared/usage/event.ts';
import { type Alert, LastAlerts } from './last-alerts.ts';

/** Another alert of the limit was stored since its last one was read. */
export class AlertedMeanwhile extends Error {}

// Credit thresholds are percentages of the credit that was not spent after the last grant.
const CreditBaseline = z.object({
  /** The number of ledger entries included in the balance. */
  entries: z.int(),
  /** The number of the last grant; each grant begins a period. */
  grant: z.int(),
  baseline_nanos: Nanos,
});
export type CreditBaseline = z.output<typeof CreditBaseline>;

const BASELINE = 'credit-baseline';

const recordKeyOf = (organization: string, limit: string) => ({ account: organization, record: `alert#${limit}` });

/** The store of sent alerts and credit baselines, in the table `billing`. */
export const createAlertStore = (database: Database, table: string) => ({
  /** The last alerts of a limit. */
  find: async (organization: string, limit: string): Promise<LastAlerts | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: recordKeyOf(organization, limit), ConsistentRead: true });
    return Item && LastAlerts.parse(Item);
  },

  /** Replaces the last alerts of a limit that were read. Fails with AlertedMeanwhile if others were stored since. */
  toReplace: ({ organization, limit }: Alert, known: LastAlerts | undefined, alerts: LastAlerts): Write => {
    const { version = 0 } = known ?? {};
    const unchanged =
      version === 0 ? 'attribute_not_exists(version) AND period = :period AND threshold = :threshold' : 'version = :version';
    const values = version === 0 ? { ':period': known?.period, ':threshold': known?.threshold } : { ':version': version };
    return {
      item: {
        Put: {
          TableName: table,
          Item: { ...recordKeyOf(organization, limit), ...alerts, version: version + 1 },
          ConditionExpression: known ? unchanged : 'attribute_not_exists(account)',
          ...(known && { ExpressionAttributeValues: values }),
        },
      },
      refused: () => new AlertedMeanwhile(),
    };
  },

  baseline: async (organization: string): Promise<CreditBaseline | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { account: organization, record: BASELINE }, ConsistentRead: true });
    return Item && CreditBaseline.parse(Item);
  },

  setBaseline: async (organization: string, baseline: CreditBaseline): Promise<void> => {
    await database.put({ TableName: table, Item: { account: organization, record: BASELINE, ...baseline } });
  },
});

export type AlertStore = ReturnType<typeof createAlertStore>;
