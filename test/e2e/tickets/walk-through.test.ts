import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/support.md');

let walk: Walk;
beforeAll(async () => {
  walk = await startWalk('--batch-window-ms', '300', '--schedule-ms', '2000');
});
afterAll(() => walk.close());

test('the commands in docs/support.md lead from a failed request to a closed ticket and print their output', async () =>
  expect(await walk.follow(DOCUMENT)).toBe(7));
