import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { buildConsole } from '../../infra/tools/console/build-console.ts';

const KB = 1_000;
// Each file is a request, and in the cloud a call of a function.
const MAX_START_FILES = 6;
const MAX_SCREEN_FILES = 8;
const { assets, entry, style, metafile } = await buildConsole();
const sizes = new Map(assets.map(({ name, content }) => [name, gzipSync(content, { level: 9 }).length]));
const outputs = new Map(Object.entries(metafile.outputs).map(([file, output]) => [file.replace(/^.*\//, ''), output]));
const nameOf = (file: string): string => file.replace(/^.*\//, '');

// The files that a file needs before it can run.
const neededBy = (name: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(name)) return found;
  found.add(name);
  for (const { path, kind } of outputs.get(name)?.imports ?? []) if (kind === 'import-statement') neededBy(nameOf(path), found);
  return found;
};
const sizeOf = (names: Iterable<string>): number => [...names].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);

const start = neededBy(entry);
const [shell = ''] = [...outputs].find(([, { entryPoint }]) => entryPoint?.endsWith('/signed-in.tsx')) ?? [];
const signedIn = new Set([...start, ...neededBy(shell)]);
const later = [...start].flatMap((file) => outputs.get(file)?.imports ?? []).filter(({ kind }) => kind === 'dynamic-import');
const screens = [...outputs]
  .filter(([, { entryPoint }]) => entryPoint?.endsWith('/screen.tsx'))
  .map(([name, { entryPoint }]) => [entryPoint, name] as const);

const [, home = ''] = screens.find(([source]) => source?.includes('/home/')) ?? [];

describe('the console', () => {
  test('loads few files until its first screen is there, and few more for each other screen', () => {
    expect(new Set([...signedIn, ...neededBy(home), style]).size).toBeLessThanOrEqual(MAX_START_FILES);
    const counts = screens.map(([, name]) => [...neededBy(name)].filter((file) => !signedIn.has(file)).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(MAX_SCREEN_FILES);
  });

  test('loads at most 95 kB, compressed, before someone can sign in', () => {
    expect(sizeOf([...start, style])).toBeLessThanOrEqual(95 * KB);
  });

  test('loads at most 120 kB, compressed, until its first screen is there', () => {
    expect(sizeOf(new Set([...signedIn, ...neededBy(home), style]))).toBeLessThanOrEqual(120 * KB);
  });

  test.each(screens)('loads at most 25 kB, compressed, for %s', (_, name) => {
    expect(sizeOf([...neededBy(name)].filter((file) => !signedIn.has(file)))).toBeLessThanOrEqual(25 * KB);
  });

  test('loads its charts only when one is seen', () => {
    const ofCharts = [...outputs]
      .filter(([, { inputs }]) => Object.keys(inputs).some((file) => /uPlot\.(esm|iife)/.test(file)))
      .map(([name]) => name);
    expect(ofCharts).toHaveLength(1);
    expect(signedIn.has(ofCharts[0] as string)).toBe(false);
    expect(later.length).toBeGreaterThan(0);
  });
});
