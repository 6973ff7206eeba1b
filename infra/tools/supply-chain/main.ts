import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readFlags } from '../read-flags.ts';
import { licenceFaults } from './licences.ts';
import { LockFile, lockFileFaults } from './lock-file.ts';
import { verifySignatures } from './signatures.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const USAGE = `npm run packages

Checks the origin, licence and signature of each package. SECURITY.md explains each check.

  --help
`;
readFlags(USAGE, {});

const lock = LockFile.parse(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')));
const faults = [...lockFileFaults(lock), ...licenceFaults(lock)];
const verdict = await verifySignatures();
if (!verdict.isVerified && verdict.isFault) faults.push(`Signatures: ${verdict.why}.`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else
  console.log(
    `Packages: hashes and licences are in order; signatures ${verdict.isVerified ? 'too' : `were not verified: ${verdict.why}`}.`,
  );
