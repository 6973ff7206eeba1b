import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENTS = path.join(import.meta.dirname, '../../../docs');

let walk: Walk;
beforeAll(async () => {
  walk = await startWalk('--queue-delay-ms', '300', '--batch-window-ms', '300', '--schedule-ms', '2000');
});
afterAll(() => walk.close());

test('the commands in docs/billing.md lead from a grant to a paid invoice and print the output it shows', async () =>
  expect(await walk.follow(path.join(DOCUMENTS, 'billing.md'))).toBe(10));

test('the commands in docs/service-levels.md state and end a promise, and print the output it shows', async () =>
  expect(await walk.follow(path.join(DOCUMENTS, 'service-levels.md'))).toBe(3));
