import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { interpret } from '../../infra/assembly/interpret.ts';
import { keptAssembly } from '../../infra/assembly/kept-assembly.ts';
import { readAssembly } from '../../infra/assembly/read-assembly.ts';
import { version } from '../../infra/config/release.ts';
import { readFlags } from '../../infra/tools/read-flags.ts';
import { latestRelease } from './changelog.ts';
import { LAST_RELEASE, packRelease } from './release-archive.ts';
import { keepReleasedStacks, RELEASED_STACKS } from './released-stacks.ts';
import { keepRows } from './stored-rows.ts';

const ROOT = path.join(import.meta.dirname, '../..');

const USAGE = `npm run release

Keeps the bundles of the version in package.json, rows that they wrote, and the exports of its stacks, for the tests of the next release.
CHANGELOG.md must begin with its entry.

  --help
`;
readFlags(USAGE, {});

const latest = latestRelease(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'));
if (latest?.version !== version) {
  console.error(`CHANGELOG.md must begin with an entry '## ${version} (YYYY-MM-DD)', the version in package.json.`);
  process.exit(1);
}
const assembly = await keptAssembly(ROOT);
const archive = packRelease(version, interpret(await readAssembly(assembly)).functions);
writeFileSync(LAST_RELEASE, archive);
// The local run that writes the rows has this assembly's tables.
process.env.SLUICE_TEST_ASSEMBLY = assembly;
const rows = path.relative(ROOT, await keepRows(version));
await keepReleasedStacks(version);
const stacks = path.relative(ROOT, RELEASED_STACKS);
const file = path.relative(ROOT, LAST_RELEASE);
console.log(`${file}: ${Math.ceil(archive.length / 1_024)} KiB. Now commit and tag it:

git add ${rows} ${stacks}
git commit -m 'Release ${version}' package.json package-lock.json CHANGELOG.md ${file} ${rows} ${stacks}
git tag -s v${version} -m 'Release ${version}'`);
