import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BUNDLED_FONTS } from '../../../functions/billing/render/fonts.ts';
import { interpret } from '../../../infra/assembly/interpret.ts';
import type { LambdaFunction } from '../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { bundleFiles } from '../../support/assembly/bundle-files.ts';

let functions: readonly LambdaFunction[];
beforeAll(async () => {
  ({ functions } = interpret(await readAssembly(assemblyDir())));
});

const named = (name: string): LambdaFunction[] => functions.filter(({ shortName }) => shortName === name);

// From source maps, which don't have files that only pass on exports.
const sourcesOf = (files: readonly string[]): string[] =>
  files
    .filter((file) => existsSync(`${file}.map`))
    .flatMap((file) => (JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] }).sources);

const bytesOf = (files: readonly string[]): number => files.reduce((bytes, file) => bytes + statSync(file).size, 0);

describe('the functions on the request path', () => {
  test.each([
    ['inference', 304_000],
    ['catalog', 153_600],
  ])('%s loads at most %i bytes at its start', (name, most) => {
    const [fn] = named(name);
    expect(bytesOf(bundleFiles(fn as LambdaFunction).start)).toBeLessThanOrEqual(most);
  });

  test('inference has only what it uses of middy', () => {
    const { start, later } = bundleFiles(named('inference')[0] as LambdaFunction);
    const parts = sourcesOf([...start, ...later]).flatMap((source) => /@middy\/.*/.exec(source) ?? []);
    expect(parts.sort()).toEqual(['@middy/core/executionModeStandard.js', '@middy/core/index.js']);
  });

  test.each(['inference', 'catalog'])('%s has nothing of the AWS SDK', (name) => {
    for (const fn of named(name)) {
      const { start, later } = bundleFiles(fn);
      expect(sourcesOf([...start, ...later]).filter((source) => /node_modules\/@(?:aws-sdk|smithy)\//.test(source))).toEqual([]);
    }
  });

  test('inference loads the code of chats at its start, and that of each other route with its first request', () => {
    const { start, later } = bundleFiles(named('inference')[0] as LambdaFunction);
    const routes = /\/functions\/inference\/(chat|completions|messages|responses|tokenize)\/routes?\.ts$/;
    const routesOf = (files: readonly string[]): string[] => sourcesOf(files).flatMap((source) => routes.exec(source)?.[1] ?? []);
    expect(routesOf(start)).toEqual(['chat']);
    expect(new Set(routesOf(later))).toEqual(new Set(['completions', 'messages', 'responses', 'tokenize']));
  });

  test('inference loads the search for another shard with the first request that one shard has no room for', () => {
    const { start, later } = bundleFiles(named('inference')[0] as LambdaFunction);
    const search = /\/(?:reserve-anywhere|move-money|split-shard)\.ts$/;
    expect(sourcesOf(start).filter((source) => search.test(source))).toEqual([]);
    expect(sourcesOf(later).filter((source) => search.test(source))).toHaveLength(3);
  });

  test('catalog loads the routes of keys, models and responses with their first request', () => {
    const { start, later } = bundleFiles(named('catalog')[0] as LambdaFunction);
    const routes = /\/functions\/catalog\/(key|models|responses)\.ts$/;
    expect(sourcesOf(start).filter((source) => routes.test(source))).toEqual([]);
    expect(
      sourcesOf(later)
        .flatMap((source) => routes.exec(source)?.[1] ?? [])
        .sort(),
    ).toEqual(['key', 'models', 'responses']);
  });
});

describe('the function billing', () => {
  test('loads at most 1,100,000 bytes at its start, and nothing of what prints documents', () => {
    const { start, later } = bundleFiles(named('billing')[0] as LambdaFunction);
    expect(bytesOf(start)).toBeLessThanOrEqual(1_100_000);
    const printing = (files: readonly string[]) => sourcesOf(files).some((source) => source.includes('node_modules/pdfkit/'));
    expect([printing(start), printing(later)]).toEqual([false, true]);
  });

  test('loads each rule with its first task', () => {
    const { start } = bundleFiles(named('billing')[0] as LambdaFunction);
    const rules =
      /\/functions\/billing\/(close\/close-month|render\/render-document|alerts\/evaluate|credit-expiry\/expire|rerate|meters\/export)/;
    expect(sourcesOf(start).filter((source) => rules.test(source))).toEqual([]);
  });

  test('has the fonts of documents next to its code', () => {
    const { folder } = named('billing')[0] as LambdaFunction;
    for (const place of Object.keys(BUNDLED_FONTS)) expect(statSync(path.join(folder, place)).size).toBeGreaterThan(100_000);
  });
});

test('the function notifications loads at most 715,000 bytes at its start', () => {
  expect(bytesOf(bundleFiles(named('notifications')[0] as LambdaFunction).start)).toBeLessThanOrEqual(715_000);
});

test('the function refusals loads at most 500,000 bytes at its start', () => {
  expect(bytesOf(bundleFiles(named('refusals')[0] as LambdaFunction).start)).toBeLessThanOrEqual(500_000);
});

test('the function deployments loads at most 715,000 bytes at its start', () => {
  const [fn] = named('deployments');
  expect(bytesOf(bundleFiles(fn as LambdaFunction).start)).toBeLessThanOrEqual(715_000);
});

test('every function loads one file at its start, and what is loaded later shares its code with that file', async () => {
  for (const fn of functions) {
    const { start, later } = bundleFiles(fn);
    expect(start).toHaveLength(1);
    // Each source is in one file only: otherwise a class would exist twice, and errors would not be recognized.
    const sources = sourcesOf([...start, ...later]);
    expect(sources.filter((source, i) => sources.indexOf(source) !== i)).toEqual([]);
  }
});

test('control loads the client of S3 and its signer with the first download', () => {
  const { start, later } = bundleFiles(named('control')[0] as LambdaFunction);
  const isS3 = (source: string): boolean => /node_modules\/@aws-sdk\/(?:client-s3|s3-request-presigner)\//.test(source);
  expect(sourcesOf(start).filter(isS3)).toEqual([]);
  expect(sourcesOf(later).some(isS3)).toBe(true);
});

test('each host has its own reference next to its code', () => {
  const files = functions.map(({ folder }) => path.join(folder, 'reference/openapi.json.gz')).filter(existsSync);
  const documents = files.map((file) => gunzipSync(readFileSync(file)).toString());
  expect([documents.length, new Set(documents).size]).toEqual([3, 3]);
});
