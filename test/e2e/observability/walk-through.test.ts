import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/observability.md');

let walk: Walk;
beforeAll(async () => {
  walk = await startWalk('--batch-window-ms', '300');
});
afterAll(() => walk.close());

test('the commands in docs/observability.md follow requests and failures, and print the output it shows', async () =>
  expect(await walk.follow(DOCUMENT)).toBe(9));
