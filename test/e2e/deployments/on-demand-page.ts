import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { eventually } from '../../support/eventually.ts';
import { type DeploymentsWalk, deploymentsWalk } from './walk.ts';

const DOCUMENTS = path.join(import.meta.dirname, '../../../docs');
const DOCUMENT = path.join(DOCUMENTS, 'on-demand.md');
// It shows the cost of that deployment.
const ECONOMICS = { document: path.join(DOCUMENTS, 'economics.md'), steps: 4 };
// A wake takes long compared with the time between two polls.
const TIMES = { instance_ms: 6 * SECOND_MS, download_ms: 3 * SECOND_MS, load_ms: 3 * SECOND_MS };
const TIMEOUT_MS = 600 * SECOND_MS;

// The deployment sleeps a minute after its last request. The reader still sees it in service before.
const IDLE_SECONDS = 40;
// Its deletion is proven when nothing was left of it for three quarters of a minute.
const PROOF_SECONDS = 50;
const STEPS = { firstChat: 6, rollout: 10, all: 11 } as const;

let walk: DeploymentsWalk;

const written = (file: string): string => readFileSync(path.join(walk.folder, '.sluice/walk', file), 'utf8');
const deploymentId = (): string => JSON.parse(written('deployment.json')).id;

const deploymentOf = async (id: string): Promise<Deployment> => {
  const { database, tables } = walk.run;
  const deployment = await createDeploymentStore(createRecordTable(database, tables.Deployments as string)).find(id);
  if (!deployment) throw new Error(`${id} is gone.`);
  return deployment;
};

const isEmpty = async (): Promise<boolean> => {
  const { state, state_since, empty_since = 0 } = await deploymentOf(deploymentId());
  return state === 'deleting' && empty_since >= state_since;
};

// The clock of the functions takes the place of two long waits.
const skipWaits = () => {
  let step = 0;
  let proof: Promise<void> | undefined;
  return {
    act: async (): Promise<void> => {
      step++;
      if (step === STEPS.firstChat) await walk.skip(IDLE_SECONDS);
      if (step !== STEPS.rollout) return;
      proof = eventually(isEmpty, 'nothing is left of the deployment', TIMEOUT_MS).then(() => walk.skip(PROOF_SECONDS));
      // If a step fails, nobody waits for it.
      proof.catch(() => undefined);
    },
    proven: async () => proof,
  };
};

const expectEconomics = (): void => {
  const [{ instance_seconds, cost, requests }] = JSON.parse(written('economics.json')).data;
  const { waking, busy, idle, draining, total } = instance_seconds;
  expect(waking + busy + idle + draining).toBe(total);
  expect([waking, busy, draining].every((seconds) => seconds > 0)).toBe(true);
  expect(requests).toBeGreaterThan(1);
  // Each event was rounded to a nano-dollar.
  expect(Math.abs(Number(cost) - (total * 1.01) / 3_600)).toBeLessThan(1e-6);
};

describe('the pages about deployments and their economics', () => {
  beforeAll(async () => {
    walk = await deploymentsWalk.start();
    await walk.setTimes(TIMES);
  });

  test(
    'the commands in docs/on-demand.md and economics.md print what they show, and Retry-After is right',
    async () => {
      const { act, proven } = skipWaits();
      expect(await walk.follow(DOCUMENT, {}, act)).toBe(STEPS.all);
      await proven();

      const { error } = JSON.parse(written('waking.json'));
      const [, retryAfter] = /^retry-after: (\d+)/im.exec(written('headers.txt')) ?? [];
      const { transitions } = await deploymentOf(deploymentId());
      const waking = transitions.findIndex(({ state }) => state === 'waking');
      const tookSeconds = ((transitions[waking + 1]?.at ?? 0) - (transitions[waking]?.at ?? 0)) / SECOND_MS;
      expect(transitions[waking + 1]?.state).toBe('in_service');
      expect(Math.abs(Number(retryAfter) - tookSeconds) / tookSeconds).toBeLessThan(0.2);
      // The times are whole seconds: the start is rounded down, the end up.
      const expectedSeconds = error.wake.expected_at - error.wake.started_at;
      expect([error.wake.p50_seconds, error.wake.p50_seconds + 1]).toContain(expectedSeconds);

      expect(await walk.follow(ECONOMICS.document)).toBe(ECONOMICS.steps);
      expectEconomics();
    },
    TIMEOUT_MS,
  );
});
