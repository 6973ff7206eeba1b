import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { deadline, type TimedContext } from '../../../shared/middleware/deadline.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { originalStacks } from '../../../shared/middleware/original-stacks.ts';

const contextWith = (remainingMs: () => number) => ({ getRemainingTimeInMillis: remainingMs }) as TimedContext;

test('gives each invocation its own deadline', async () => {
  const handler = middy<unknown, () => boolean>()
    .use(deadline(1_000))
    .handler((_event, { hasTime }) => hasTime);
  const [early, late] = await Promise.all([
    handler(
      {},
      contextWith(() => 1_001),
    ),
    handler(
      {},
      contextWith(() => 1_000),
    ),
  ]);
  expect([early(), late()]).toEqual([true, false]);
});

test('does not end an invocation before its timeout', async () => {
  jest.useFakeTimers();
  try {
    let end: (text: string) => void = () => undefined;
    const handler = middy<unknown, string>().handler(() => new Promise((resolve) => (end = resolve)));
    const result = handler(
      {},
      contextWith(() => 10),
    );
    await jest.advanceTimersByTimeAsync(60_000);
    end('done');
    expect(await result).toBe('done');
  } finally {
    jest.useRealTimers();
  }
});

test("throws a function's error on, with positions in our sources", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-stacks-'));
  try {
    const file = path.join(folder, 'index.mjs');
    const map = { version: 3, sources: ['../../functions/a/work.ts'], names: [], mappings: 'AAAA' };
    writeFileSync(`${file}.map`, JSON.stringify(map));
    const thrown = Object.assign(new Error('a bug'), { stack: `Error: a bug\n    at f (file://${file}:1:1)` });
    const handler = middy<unknown, void>()
      .use(originalStacks())
      .handler(() => {
        throw thrown;
      });
    await expect(
      handler(
        {},
        contextWith(() => 1),
      ),
    ).rejects.toBe(thrown);
    expect(thrown.stack).toContain('functions/a/work.ts:1:1');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
