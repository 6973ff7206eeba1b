import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWalk, type Walk } from '../support/clients/walk-through.ts';
import { sized } from '../support/sized.ts';

const DOCUMENTS = path.join(import.meta.dirname, '../../docs');
// The one with the longest effects comes first, and each page after itself and after all others.
const PAGES = ['billing', 'support', 'on-demand', 'observability', 'control-plane'];
// The small size follows a test of the support page.
const ORDERS = sized([['control-plane', 'control-plane', 'support']], [PAGES, PAGES.toReversed()]);
const TIMEOUT_MS = sized(600_000, 1_800_000);

let walk: Walk;
beforeAll(async () => {
  walk = await startWalk('--queue-delay-ms', '300', '--batch-window-ms', '300', '--schedule-ms', '2000');
});
afterAll(() => walk.close());

const follow = (page: string): Promise<number> => walk.follow(path.join(DOCUMENTS, `${page}.md`));

const testPages = (pages: readonly [page: string, steps: number, effect: string][]): void =>
  test.each(pages)('docs/%s.md has %d steps that %s and print what it shows', async (page, steps) => {
    // No page needs the files of another one.
    rmSync(path.join(walk.folder, '.sluice/walk'), { recursive: true, force: true });
    expect(await follow(page)).toBe(steps);
  });

testPages([
  ['support', 7, 'lead from a failed request to a closed ticket'],
  ['observability', 9, 'follow requests and failures'],
]);

test(
  'the walk-throughs of the pages print what they show in another order and twice, on one state',
  async () => {
    // A reader has tried a chat before, so that models and keys are cached.
    await walk.shell(
      `curl -sf ${walk.run.base_url}/v1/chat/completions -H "authorization: Bearer ${walk.run.api_key}" -H 'content-type: application/json' \
        -d '{"model": "${walk.run.model}", "max_tokens": 4, "messages": [{"role": "user", "content": "Hi"}]}'`,
    );
    for (const order of ORDERS) for (const page of order) expect(await follow(page)).toBeGreaterThan(6);
  },
  TIMEOUT_MS,
);

// At the end, because the sweep then catches up with a month, for which the page sets the clock back.
testPages([
  ['billing', 10, 'lead from a grant to a paid invoice'],
  ['service-levels', 3, 'state and end a promise'],
]);
