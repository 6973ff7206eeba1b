import { describe, expect, test } from '@jest/globals';
import { createProgress } from '../../../infra/local/progress.ts';

const record = (isTTY: boolean, columns = 80) => {
  const written: string[] = [];
  return { written, progress: createProgress({ isTTY, columns, write: (text) => written.push(text) }) };
};

// After a terminal got these texts.
const screenOf = (written: readonly string[]): string[] =>
  written
    .join('')
    .split('\n')
    .map((line) => line.split('\r\x1b[K').at(-1) ?? '');

describe('without a terminal', () => {
  test('shows when work begins, and how long it took', async () => {
    const { written, progress } = record(false);
    await progress.during('Starting the model', async () => expect(written).toEqual(['Starting the model ...\n']));
    expect(written).toEqual(['Starting the model ...\n', expect.stringMatching(/^Starting the model: \d+\.\d s\n$/)]);
  });

  test('returns what the work returns, and shows no time of work that failed', async () => {
    const { written, progress } = record(false);
    expect(await progress.during('One', async () => 1)).toBe(1);
    const failing = progress.during('Two', async () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(written.at(-1)).toBe('Two ...\n');
  });
});

describe('on a terminal', () => {
  test('shows all work in progress in the last line, and each finished work in its own', async () => {
    const { written, progress } = record(true);
    const model = Promise.withResolvers<void>();
    const starting = progress.during('Starting the model', () => model.promise);
    await progress.during('Starting the database', async () => {
      expect(screenOf(written).at(-1)).toMatch(/^\S Starting the model, Starting the database \d+\.\d s$/);
    });
    progress.log('a line');
    const [database, line, last] = screenOf(written);
    expect(database).toMatch(/^✓ Starting the database +\d+\.\d s$/);
    expect(line).toBe('a line');
    expect(last).toMatch(/^\S Starting the model \d+\.\d s$/);
    model.resolve();
    await starting;
    expect(screenOf(written)).toEqual([database, line, expect.stringMatching(/^✓ Starting the model +\d+\.\d s$/), '']);
  });

  test('leaves nothing of work that failed, and never writes past the end of a line', async () => {
    const { written, progress } = record(true, 20);
    const failing = progress.during('Something that has a long name', async () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(written[0]).toHaveLength('\r\x1b[K'.length + 19);
    expect(screenOf(written)).toEqual(['']);
  });
});
