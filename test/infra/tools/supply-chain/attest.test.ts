import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const ATTEST = path.resolve('infra/tools/supply-chain/attest.ts');
const INTEGRITY = `sha512-${'A'.repeat(86)}==`;

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder.path, encoding: 'utf8' }).trim();
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
const attest = (...args: string[]) =>
  spawnSync(process.execPath, [ATTEST, ...args], { cwd: folder.path, encoding: 'utf8', env: environment });
const environment = { ...process.env, GITHUB_REPOSITORY: '', GITHUB_WORKFLOW_REF: '' };

beforeAll(() => {
  const own = { name: 'sluice', version: '1.2.3', license: 'MIT' };
  writeFileSync(inFolder('package.json'), JSON.stringify({ ...own, dependencies: { zod: '4.6.7' } }));
  const packages = {
    '': { ...own, dependencies: { zod: '4.6.7' } },
    'node_modules/zod': { version: '4.6.7', integrity: INTEGRITY, license: 'MIT' },
  };
  writeFileSync(
    inFolder('package-lock.json'),
    JSON.stringify({ name: 'sluice', version: '1.2.3', lockfileVersion: 3, requires: true, packages }),
  );
  writeFileSync(inFolder('.gitignore'), '.sluice/\nkey*\nsigners\n');
  git('init', '-q');
  git('config', 'user.email', 'ada@example.com');
  git('config', 'user.name', 'Ada');
  git('remote', 'add', 'origin', 'https://user:secret@example.com/sluice.git');
  git('add', '.');
  git('-c', 'commit.gpgsign=false', 'commit', '-q', '-m', 'Release 1.2.3');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', inFolder('key')]);
  writeFileSync(inFolder('signers'), `ada@example.com ${readFileSync(inFolder('key.pub'), 'utf8')}`);
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

const provenance = inFolder('.sluice/release/sluice-1.2.3.provenance.json');
const sbom = inFolder('.sluice/release/sluice-1.2.3.cdx.json');
const verify = (): number | null => {
  const args = ['-Y', 'verify', '-f', inFolder('signers'), '-I', 'ada@example.com', '-n', 'sluice-release', '-s', `${provenance}.sig`];
  return spawnSync('ssh-keygen', args, { input: readFileSync(provenance) }).status;
};

test('says from which commit, lock file and packages a release was made, and by whom, and signs that', () => {
  const { status, stderr } = attest('--key', inFolder('key'));
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
  const statement = JSON.parse(readFileSync(provenance, 'utf8'));
  const source = { gitCommit: git('rev-parse', 'HEAD'), gitTree: git('rev-parse', 'HEAD^{tree}') };
  expect(statement).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'sluice-1.2.3', digest: source },
      { name: 'sluice-1.2.3.cdx.json', digest: { sha256: sha256(sbom) } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        resolvedDependencies: [
          { uri: 'git+https://example.com/sluice@refs/tags/v1.2.3', digest: source },
          { digest: { sha256: sha256(inFolder('package-lock.json')) } },
        ],
      },
      runDetails: { builder: { id: 'mailto:ada@example.com' } },
    },
  });
  expect(JSON.stringify(statement)).not.toContain('secret');
  const { bomFormat, metadata, components } = JSON.parse(readFileSync(sbom, 'utf8'));
  expect([bomFormat, metadata.component.name, components.map(({ purl }: { purl: string }) => purl)]).toEqual([
    'CycloneDX',
    'sluice',
    ['pkg:npm/zod@4.6.7'],
  ]);

  expect(verify()).toBe(0);
  writeFileSync(provenance, readFileSync(provenance, 'utf8').replace(source.gitCommit, '0'.repeat(40)));
  expect(verify()).not.toBe(0);
});

test('nothing is said of a checkout with changes', () => {
  writeFileSync(inFolder('added.ts'), 'export {};\n');
  const { status, stderr } = attest();
  expect([status, stderr]).toEqual([1, expect.stringContaining('changes that are not committed')]);
});
