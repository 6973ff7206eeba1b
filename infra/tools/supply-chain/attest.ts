import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { readFlags } from '../read-flags.ts';
import { provenanceOf } from './provenance.ts';

// `npm run attest [-- --key KEY]` writes the packages (CycloneDX) and the provenance of a clean commit to
// .sluice/release/. An SSH key signs the provenance; .github/workflows/release.yml signs both with the workflow's
// identity.
const ROOT = process.cwd();
const FOLDER = path.join(ROOT, '.sluice/release');
// SSH signatures have a namespace, which verifiers must name, too.
const NAMESPACE = 'sluice-release';
const MAX_SBOM_BYTES = 50_000_000;

const { name, version } = z
  .looseObject({ name: z.string(), version: z.string() })
  .parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
const USAGE = `npm run attest -- [options]

Writes the packages (CycloneDX) and the provenance of a clean commit to .sluice/release/.

  --key FILE    an SSH key that signs the provenance
  --help
`;
const { key } = readFlags(USAGE, { key: { type: 'string' } });

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: MAX_SBOM_BYTES }).trim();
const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

// Without credentials and `.git`.
const repositoryOf = (remote: string): string =>
  remote
    .replace(/^git@([^:]+):/, 'https://$1/')
    .replace(/^(https?:\/\/)[^@/]*@/, '$1')
    .replace(/\.git$/, '');

const startedAt = new Date().toISOString();
if (run('git', 'status', '--porcelain') !== '') {
  console.error('The checkout has changes that are not committed, so nothing can be said of its origin. Commit or remove them.');
  process.exit(1);
}
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_WORKFLOW_REF } = process.env;
const repository = GITHUB_REPOSITORY
  ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`
  : repositoryOf(run('git', 'remote', 'get-url', 'origin'));
const builder = GITHUB_WORKFLOW_REF ? `${GITHUB_SERVER_URL}/${GITHUB_WORKFLOW_REF}` : `mailto:${run('git', 'config', 'user.email')}`;

const sbomName = `${name}-${version}.cdx.json`;
const provenanceName = `${name}-${version}.provenance.json`;
const bill = JSON.parse(run('npm', 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'));
// npm takes the name of the folder.
bill.metadata.component.name = name;
const sbom = `${JSON.stringify(bill, undefined, 2)}\n`;
const statement = provenanceOf({
  version,
  repository,
  commit: run('git', 'rev-parse', 'HEAD'),
  tree: run('git', 'rev-parse', 'HEAD^{tree}'),
  files: { [sbomName]: sha256(sbom) },
  lockFile: sha256(readFileSync(path.join(ROOT, 'package-lock.json'))),
  builder,
  tools: { node: process.version, npm: run('npm', '--version') },
  startedAt,
});
mkdirSync(FOLDER, { recursive: true });
writeFileSync(path.join(FOLDER, sbomName), sbom);
const provenance = path.join(FOLDER, provenanceName);
writeFileSync(provenance, `${JSON.stringify(statement, undefined, 2)}\n`);
// A signature of before would be asked about, or stay with other content.
rmSync(`${provenance}.sig`, { force: true });
if (key !== undefined)
  execFileSync('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', NAMESPACE, provenance], { stdio: ['inherit', 'ignore', 'inherit'] });
console.log(`Wrote ${sbomName} and ${provenanceName}${key === undefined ? '' : ', signed,'} to ${path.relative(ROOT, FOLDER)}.`);
