import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { version } from '../../infra/config/release.ts';
import { latestRelease } from './changelog.ts';
import { LAST_RELEASE, versionOf } from './release-archive.ts';
import { readReleasedStacks } from './released-stacks.ts';

const MAX_BYTES = 1_000_000;

const changelog = readFileSync(path.join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');

test('keeps bundles and stacks of the version in package.json, the newest entry of the changelog', () => {
  expect(latestRelease(changelog)?.version).toBe(version);
  expect(versionOf(LAST_RELEASE)).toBe(version);
  expect(readReleasedStacks().version).toBe(version);
});

test('keeps bundles that are small enough for the repository', () => {
  expect(readFileSync(LAST_RELEASE).length).toBeLessThan(MAX_BYTES);
});

test('takes the first entry with a version and a date for the newest release', () => {
  const text = '# Changelog\n\n## Unreleased\n\n- x\n\n## 1.10.0 (2026-12-01)\n\n## 1.9.0 (2026-11-30)\n';
  expect(latestRelease(text)).toEqual({ version: '1.10.0', date: '2026-12-01' });
  expect(latestRelease('# Changelog\n\n## Unreleased\n')).toBeUndefined();
});
