import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/on-demand.md');
// A wake takes long compared with the time between two polls.
const TIMES = { instance_ms: 6 * SECOND_MS, download_ms: 3 * SECOND_MS, load_ms: 3 * SECOND_MS };

// The deployment sleeps after a minute, and its deletion is proven after three quarters of one.
const TIMEOUT_MS = 600 * SECOND_MS;

let walk: Walk;
beforeAll(async () => {
  walk = await startWalk('--queue-delay-ms', '1000', '--batch-window-ms', '300', '--schedule-ms', '3000');
  await fetch(`${walk.run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times: TIMES }) });
});
afterAll(() => walk.close());

const deploymentOf = async (id: string): Promise<Deployment> => {
  const { database, tables } = walk.run;
  const deployment = await createDeploymentStore(createRecordTable(database, tables.Deployments as string)).find(id);
  if (!deployment) throw new Error(`${id} is gone.`);
  return deployment;
};

test(
  'the commands in docs/on-demand.md print the output it shows, and Retry-After is right within 20 %',
  async () => {
    expect(await walk.follow(DOCUMENT)).toBe(11);

    const written = (file: string): string => readFileSync(path.join(walk.folder, '.sluice/walk', file), 'utf8');
    const { error } = JSON.parse(written('waking.json'));
    const [, retryAfter] = /^retry-after: (\d+)/im.exec(written('headers.txt')) ?? [];
    const { id } = JSON.parse(written('deployment.json'));
    const { transitions } = await deploymentOf(id);
    const waking = transitions.findIndex(({ state }) => state === 'waking');
    const tookSeconds = ((transitions[waking + 1]?.at ?? 0) - (transitions[waking]?.at ?? 0)) / SECOND_MS;
    expect(transitions[waking + 1]?.state).toBe('in_service');
    expect(Math.abs(Number(retryAfter) - tookSeconds) / tookSeconds).toBeLessThan(0.2);
    // The times are whole seconds: the start is rounded down, the end up.
    const expectedSeconds = error.wake.expected_at - error.wake.started_at;
    expect([error.wake.p50_seconds, error.wake.p50_seconds + 1]).toContain(expectedSeconds);
  },
  TIMEOUT_MS,
);
