import { beforeAll, expect, test } from '@jest/globals';
import type { Admission } from '../../../functions/inference/admission/admit.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../support/fixtures/callers.ts';
import { background } from './run.ts';

// Longer than a request can be in flight.
const LONG_AGO_MS = 15 * 60_000;

let run: TestRun;
beforeAll(async () => {
  run = await background.start();
});

// The panel of the run moves its clock, and then runs all schedules that were due.
const moveClock = async (move: 'hour' | 'present'): Promise<void> => {
  const headers = { 'content-type': 'application/json', 'x-sluice-panel': '1' };
  const { status } = await fetch(`${run.panel_url}/clock`, { method: 'POST', headers, body: JSON.stringify({ move }) });
  expect(status).toBe(200);
};

test('the sweep settles a request whose function crashed, on its schedule', async () => {
  const key = await makeKey(run.limiters);
  const crashedAt = Date.now() + HOUR_MS - LONG_AGO_MS;
  const requestId = newRequestId(crashedAt);
  const admission = await attempt(
    makeCaller(run.limiters, () => crashedAt),
    key,
    100,
    requestId,
    5_000n,
  );
  expect(isAdmitted(admission)).toBe(true);
  try {
    await moveClock('hour');
    await eventually(async () => Object.keys((await run.limiters.whole(key.keyId))?.fl ?? {}).length === 0, 'nothing is in flight');
  } finally {
    await moveClock('present');
  }
  const { shards } = admission as Admission;
  expect(await run.usage.get(key.keyId, requestId, shards)).toMatchObject({ outcome: 'orphaned', admitted_at: crashedAt });
});
