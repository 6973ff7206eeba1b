import { expect, test } from '@jest/globals';
import { LATE_CALL_MS, runningGenerations, stoppedGenerations } from '../../../functions/deployments/reconcile/generations.ts';
import { newDeployment } from '../../support/fixtures/deployments.ts';

const ENDED_AT = 1_000_000;
const { generations, ...row } = newDeployment({ organization: 'org_1' });
const [newest] = generations as [(typeof generations)[number]];
const deployment = {
  ...row,
  generations: [
    { ...newest, number: 1, status: 'retired' as const, ended_at: ENDED_AT },
    { ...newest, number: 2 },
  ],
};
const NOTHING_EXISTS = { generations: new Map(), archives: [] };

test.each([
  ['runs', runningGenerations],
  ['is stopped', stoppedGenerations],
])('keeps an empty retired generation until no late call can create anything of it, if its deployment %s', (_, generationsOf) => {
  const numbersAt = (nowMs: number): number[] => generationsOf(deployment, NOTHING_EXISTS, nowMs).map(({ number }) => number);
  expect(numbersAt(ENDED_AT + LATE_CALL_MS)).toEqual([1, 2]);
  expect(numbersAt(ENDED_AT + LATE_CALL_MS + 1)).toEqual([2]);
});
