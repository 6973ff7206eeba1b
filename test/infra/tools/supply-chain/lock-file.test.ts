import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { licenceFaults } from '../../../../infra/tools/supply-chain/licences.ts';
import { type Entry, LockFile, lockFileFaults } from '../../../../infra/tools/supply-chain/lock-file.ts';

const INTEGRITY = `sha512-${'A'.repeat(86)}==`;
const lockOf = (packages: Record<string, Entry>): LockFile => ({ packages: { '': { version: '1.0.0' }, ...packages } });
const whole: Entry = { version: '1.2.3', integrity: INTEGRITY, license: 'MIT' };

test('finds an SHA-512, the registry as origin, and a licence of the list for every locked package', () => {
  const lock = LockFile.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));
  expect(Object.keys(lock.packages).length).toBeGreaterThan(700);
  expect([...lockFileFaults(lock), ...licenceFaults(lock)]).toEqual([]);
});

test.each<[string, Record<string, Entry>, RegExp]>([
  ['no hash', { 'node_modules/a': { version: '1.2.3' } }, /^node_modules\/a 1\.2\.3 has no SHA-512 .* npm view a@1\.2\.3 dist\.integrity/],
  [
    'no hash, for another platform',
    { 'node_modules/@x/linux-arm64': { version: '1.2.3', optional: true } },
    /npm view @x\/linux-arm64@1\.2\.3/,
  ],
  ['a weaker hash', { 'node_modules/a': { ...whole, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' } }, /has no SHA-512/],
  ['an address of its own', { 'node_modules/a': { ...whole, resolved: 'https://example.com/a.tgz' } }, /comes from https:\/\/example\.com/],
  ['a repository', { 'node_modules/a': { version: '1.2.3', resolved: 'git+ssh://git@github.com/a/a.git#1' } }, /comes from git\+ssh/],
  [
    'a place in an archive without a hash',
    { 'node_modules/a': { version: '1' }, 'node_modules/a/node_modules/b': { version: '2', inBundle: true } },
    /node_modules\/b 2 has no SHA-512/,
  ],
  ['a place in no archive', { 'node_modules/b': { version: '2', inBundle: true } }, /node_modules\/b 2 has no SHA-512/],
])('a package with %s is a fault', (_, packages, fault) => {
  expect(lockFileFaults(lockOf(packages)).join('\n')).toMatch(fault);
});

test('packages in another one’s archive, and folders of this repository, need no hash of their own', () => {
  const lock = lockOf({
    'node_modules/a': whole,
    'node_modules/a/node_modules/b': { version: '2', inBundle: true },
    'node_modules/a/node_modules/b/node_modules/c': { version: '3', inBundle: true },
    'infra/local/own': { version: '0.0.0' },
    'node_modules/own': { resolved: 'infra/local/own', link: true },
  });
  expect(lockFileFaults(lock)).toEqual([]);
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-or-later)', true],
  ['MIT AND OFL-1.1', true],
  ['GPL-3.0-only', false],
  ['MIT AND GPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE.md', false],
  [undefined, false],
])('the licence %s: %s', (license, isAllowed) => {
  const faults = licenceFaults(lockOf({ 'node_modules/x/node_modules/@a/b': { ...whole, license } }));
  expect(faults).toEqual(isAllowed ? [] : [expect.stringMatching(/^@a\/b@1\.2\.3 has the licence .*not on the list/)]);
});
