import { type LimiterItem, shardsOf } from '../../shared/admission/limiter-item.ts';
import { createCreditStore } from '../../shared/credit/credit-store.ts';
import type { Database } from '../../shared/database/database.ts';
import { createKey } from './create-key.ts';
import { grantCredit } from './grant-credit.ts';
import { limitOrganization } from './limit-organization.ts';
import type { TestLimiters } from './limiters.ts';
import { newId } from './new-id.ts';

/** A key whose money is counted. */
export interface Caller {
  secret: string;
  keyId: string;
  shards: number;
  organization: string;
}

const LIMITS = { scope: 'serverless', requests_per_minute: 24_000, tokens_per_minute: 10_000_000, concurrency: 32 } as const;

/**
 * Every kind of key: plain, with more shards, with budgets, and of a prepaid organization.
 * @param granted the nano-dollars of each budget, and of the credit
 */
export const createEveryKindOfKey = async (
  { database, limiters, accountsTable }: { database: Database; limiters: TestLimiters; accountsTable: string },
  granted: bigint,
): Promise<Caller[]> => {
  const prepaid = newId('organization');
  const make = async (fields: Partial<Parameters<typeof createKey>[1]>): Promise<Caller> => {
    const organization = fields.org ?? newId('organization');
    const { secret, key_id } = await createKey(limiters, { ...LIMITS, ...fields, org: organization });
    const item = (await limiters.get(key_id)) as LimiterItem;
    return { secret, keyId: key_id, shards: shardsOf(item), organization };
  };
  const callers = [
    await make({}),
    await make({ concurrency: 64 }),
    await make({ day_budget_nanos: granted, month_budget_nanos: granted, total_budget_nanos: granted }),
    await make({ org: prepaid }),
    await make({ org: prepaid, total_budget_nanos: granted, concurrency: 64 }),
  ];
  await limitOrganization(limiters, prepaid, { budgets: { month: granted }, isPrepaid: true, concurrency: 200, requestsPerMinute: 24_000 });
  const credit = createCreditStore(database, accountsTable);
  const grant = { organization: prepaid, amount_nanos: granted, actor: 'a', reason: 'r', granted_at: Date.now() };
  await grantCredit({ database, limiters, credit }, grant);
  return callers;
};
