import { beforeAll, expect, test } from '@jest/globals';
import { createCreditStore } from '../../../shared/credit/credit-store.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { grantCredit } from '../../support/fixtures/grant-credit.ts';
import { limitOrganization } from '../../support/fixtures/limit-organization.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { sized } from '../../support/sized.ts';
import { environments } from './run.ts';

const CALLERS = sized(200, 1_000);
const CREDIT = BigInt(CALLERS) * 1_000_000n;
const MODEL = 'dear';
// A request may wait in the queue for an environment longer than the gateway allows.
const MAX_ATTEMPTS = 20;

let run: TestRun;
beforeAll(async () => {
  run = await environments.start();
});

test(`${CALLERS} parallel callers spend at most the prepaid credit, and the balance is credit minus events`, async () => {
  const demo = (await run.models.list(SERVERLESS_POOL)).get(run.model);
  if (!demo) throw new Error('The demo model is not published.');
  // A request costs about a sixth of a cent, so a tenth of a cent for each pays for about 60 per cent of them.
  const prices = [{ version: 'dear-1', effective_at: 0, prompt_nanos: 10_000_000_000, completion_nanos: 800_000_000_000 }];
  await run.models.put(SERVERLESS_POOL, { ...demo, name: MODEL, prices });
  const organization = newId('organization');
  const { secret, key_id } = await run.createKey({ org: organization });
  await limitOrganization(run.limiters, organization, { isPrepaid: true, concurrency: 100 });
  const credit = createCreditStore(run.database, run.tables.Accounts as string);
  await grantCredit(
    { database: run.database, limiters: run.limiters, credit },
    { organization, amount_nanos: CREDIT, actor: 'finance@example.com', reason: 'prepayment', granted_at: Date.now() },
  );

  const ask = async (_: unknown, number: number): Promise<{ status: number; code: string | undefined }> => {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`${run.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: `Hello ${number}` }], max_tokens: 2, temperature: 0 }),
      });
      const { error } = (await response.json()) as { error?: { code?: string } };
      const isHeld = response.status === 429 && error?.code === 'rate_limit_exceeded';
      if (attempt === MAX_ATTEMPTS || (response.status !== 503 && !isHeld)) return { status: response.status, code: error?.code };
    }
  };
  let lowest = CREDIT;
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const available = BigInt((await run.limiters.whole(organization))?.avail ?? 0);
      if (available < lowest) lowest = available;
    }
  };
  const watching = watch();
  const replies = await Promise.all(Array.from({ length: CALLERS }, ask));
  isOver = true;
  await watching;

  const served = replies.filter(({ status }) => status === 200);
  const spentOut = replies.filter(({ code }) => code === 'insufficient_quota');
  expect(served.length).toBeGreaterThan(CALLERS / 10);
  expect(spentOut.length).toBeGreaterThan(0);
  expect(lowest).toBeGreaterThanOrEqual(0n);

  const events = await run.eventsOf(key_id);
  expect(events.filter(({ outcome }) => outcome === 'completed')).toHaveLength(served.length);
  expect(events.every(({ is_prepaid }) => is_prepaid === true)).toBe(true);
  const spent = events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  expect(spent).toBeLessThanOrEqual(CREDIT);
  const item = await run.limiters.whole(organization);
  expect(item?.fl).toEqual({});
  expect(BigInt(item?.avail ?? 0)).toBe(CREDIT - spent);
  expect(BigInt(item?.spent ?? 0)).toBe(spent);
});
