import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { listLevels, ServiceLevels } from '../../../../functions/control/service-levels/list-levels.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { PromiseFigures } from '../../../../shared/service-levels/promise.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, closingOf, createClosing, MODEL } from '../../../support/fixtures/closing.ts';
import { actorOf } from '../../../support/fixtures/managed-models.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
let organization: string;
let key: string;

const MONTH = '2026-10';
const FAILED = { outcome: 'upstream_failed', error_code: 'upstream_error', error_status: 503, cost_nanos: 0n } as const;
const figures = PromiseFigures.parse({ availability: { tiers: [{ below: '0.9', credit_percent: 10 }] } });

beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
  const promises = [{ from_month: MONTH, stated_at: 0, figures }];
  await transact(database.database, [closing.servicePromises.toReplace({ model: MODEL, promises, version: 0 })]);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  organization = newId('organization');
  key = await closing.addKey(organization);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const levels = (query: object = {}, actor = actorOf('owner', organization, Date.parse('2026-10-20T00:00:00Z'))) =>
  listLevels({ ...closing, billed: closing.billedMonths, organizationTotals: closing.totals }, actor, query);
const later = (role: 'owner' | 'admin', of: string | null = organization) => actorOf(role, of, Date.parse('2026-11-02T00:00:00Z'));
const usage = (facts: object) =>
  closing.addUsage({ key_id: key, org_id: organization, admitted_at: Date.parse('2026-10-02T12:00:00Z'), ...facts });

describe('the service levels of an organization', () => {
  test('are counts so far, until the month is closed', async () => {
    const rejected = { outcome: 'upstream_failed', error_code: 'invalid_value', error_status: 400, cost_nanos: 0n } as const;
    const events = await Promise.all([
      usage({}),
      usage(FAILED),
      usage(rejected),
      usage({ outcome: 'client_closed' }),
      usage({ model: 'other' }),
    ]);
    await closing.rollUp(events);
    const reply = await levels();
    expect(ServiceLevels.parse(reply)).toEqual(reply);
    expect(reply).toMatchObject({ month: MONTH, is_final: false, credit_note: null });
    expect(reply.data).toMatchObject([{ model: MODEL, answered: 1, failed: 1, first_tokens: null, charges: null, misses: [] }]);
  });

  test('are those of the invoice afterwards, with the credit note', async () => {
    await usage({ cost_nanos: 10_000_000_000n });
    await usage(FAILED);
    await closing.close(organization, MONTH, closingOf(MONTH));
    const reply = await levels({ month: MONTH }, later('owner'));
    expect(ServiceLevels.parse(reply)).toEqual(reply);
    expect(reply).toMatchObject({ is_final: true, credit_note: expect.stringMatching(/^cn_/) });
    expect(reply.data).toMatchObject([
      { model: MODEL, answered: 1, failed: 1, charges: '10', misses: [{ measure: 'availability', threshold: '0.9', percent: 10 }] },
    ]);
    expect(await levels({ month: MONTH, organization }, later('admin', null))).toEqual(reply);
  });

  test('are final and without a credit if the month had no charges', async () => {
    await usage(FAILED);
    await closing.close(organization, MONTH, closingOf(MONTH));
    expect(await levels({ month: MONTH }, later('owner'))).toMatchObject({ is_final: true, credit_note: null });
  });

  test('are refused for a month that has not begun, and to other organizations', async () => {
    await expect(levels({ month: '2026-11' })).rejects.toMatchObject({ status: 400, param: 'month' });
    await expect(levels({ organization: newId('organization') })).rejects.toMatchObject({ status: 404 });
  });
});
