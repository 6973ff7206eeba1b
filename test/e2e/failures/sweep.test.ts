import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Admission } from '../../../functions/inference/admission/admit.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../support/fixtures/callers.ts';

// Longer than a request can be in flight.
const LONG_AGO_MS = 15 * 60_000;

let run: TestRun;
beforeAll(async () => {
  run = await startTestRun('--schedule-ms', '500', '--queue-delay-ms', '200', '--batch-window-ms', '200');
});
afterAll(() => run.close());

test('the sweep settles a request whose function crashed, on its schedule', async () => {
  const key = await makeKey(run.limiters);
  const crashedAt = Date.now() - LONG_AGO_MS;
  const requestId = newRequestId(crashedAt);
  const admission = await attempt(
    makeCaller(run.limiters, () => crashedAt),
    key,
    100,
    requestId,
    5_000n,
  );
  expect(isAdmitted(admission)).toBe(true);
  await eventually(async () => Object.keys((await run.limiters.whole(key.keyId))?.fl ?? {}).length === 0, 'nothing is in flight');
  const { shards } = admission as Admission;
  expect(await run.usage.get(key.keyId, requestId, shards)).toMatchObject({ outcome: 'orphaned', admitted_at: crashedAt });
});
