import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const CONSOLE = path.join(import.meta.dirname, '../../console');

test('the texts of the console write apostrophes one way', () => {
  const files = globSync('**/*.{ts,tsx}', { cwd: CONSOLE });
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => readFileSync(path.join(CONSOLE, file), 'utf8').includes('’'))).toEqual([]);
});
