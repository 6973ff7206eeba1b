import { expect, test } from '@jest/globals';
import type { ObservedGeneration } from '../../../functions/deployments/reconcile/observe.ts';
import { stepsUp } from '../../../functions/deployments/reconcile/steps.ts';
import { newDeployment } from '../../support/fixtures/deployments.ts';

const deployment = { ...newDeployment({ organization: 'org_1' }), copies: { min: 1, max: 4 } };

// Scaled as its owner wants, on AWS.
const failedWith = (copies: number, wantedCopies: number): ObservedGeneration => ({
  hasModel: true,
  hasConfig: true,
  adapters: [],
  endpoint: { status: 'InService', instances: [], missingInstances: 0 },
  component: { status: 'Failed', copies, wantedCopies },
  scaling: { min: 1, max: 4, isSuspended: false, requestsPerCopy: Math.max(1, deployment.max_concurrency_per_copy * 0.8) },
});

const callsOf = (existing: ObservedGeneration, isAsleep: boolean) =>
  stepsUp(deployment, 1, existing, isAsleep).map(({ generation: _, ...call }) => call);

test('removes the copies of a component whose last update has failed, if its deployment sleeps', () => {
  expect(callsOf(failedWith(1, 1), true)).toEqual([
    { kind: 'register_scaling', target: { min: 0, max: 4, isSuspended: true } },
    { kind: 'set_copies', copies: 0 },
  ]);
});

test('adds the copies again that such a component could not get, and scales it like any other', () => {
  expect(callsOf(failedWith(1, 3), false)).toEqual([{ kind: 'set_copies', copies: 3 }]);
  expect(callsOf(failedWith(2, 2), false)).toEqual([]);
  expect(callsOf(failedWith(6, 6), false)).toEqual([{ kind: 'set_copies', copies: 4 }]);
});

test('suspends the scaling of a component at once whose deployment falls asleep during an update', () => {
  const updating = { ...failedWith(1, 2), component: { status: 'Updating', copies: 1, wantedCopies: 2 } };
  expect(callsOf(updating, true)).toEqual([
    { kind: 'register_scaling', target: { min: 0, max: 4, isSuspended: true } },
    { kind: 'set_copies', copies: 0 },
  ]);
  expect(callsOf(updating, false)).toEqual([]);
});

test('leaves a component without copies alone, because its generation has failed', () => {
  expect(callsOf(failedWith(0, 1), false)).toEqual([]);
});
