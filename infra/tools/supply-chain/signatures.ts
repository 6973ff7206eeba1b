import { spawn } from 'node:child_process';
import * as z from 'zod';

// The whole check takes a minute at most.
const NPM_TIMEOUT_MS = 20_000;
// npm takes the registry's keys from there to verify signatures.
const KEYS_URL = 'https://tuf-repo-cdn.sigstore.dev/';
const REACHED_MS = 3_000;
const MAX_NAMED = 10;

/** How `npm audit signatures --json` ended. */
export interface AuditRun {
  status: number | null;
  stdout: string;
}

/** The result of asking the registry for its signatures. */
export type Verdict = { isVerified: true } | { isVerified: false; why: string; isFault: boolean };

const Package = z.looseObject({ name: z.string(), version: z.string() });
const Findings = z.object({ invalid: z.array(Package), missing: z.array(Package) });
const Failure = z.looseObject({ error: z.looseObject({ summary: z.string().optional(), code: z.string().optional() }) });

const unknown = (why: string): Verdict => ({ isVerified: false, why, isFault: false });

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A signature that is wrong or missing is a fault; a registry that doesn't answer, or signs nothing, is none. */
export const judgeAudit = ({ status, stdout }: AuditRun): Verdict => {
  const output = parsed(stdout);
  const findings = Findings.safeParse(output);
  if (findings.success) {
    const named = ([kind, packages]: [string, z.infer<typeof Package>[]]): string[] =>
      packages.slice(0, MAX_NAMED).map(({ name, version }) => `${name}@${version} (${kind})`);
    const bad = Object.entries(findings.data).flatMap(named);
    if (bad.length > 0) return { isVerified: false, isFault: true, why: `the registry's signature is wrong or missing: ${bad.join(', ')}` };
    if (status === 0) return { isVerified: true };
  }
  const { data } = Failure.safeParse(output);
  return unknown(data?.error.summary?.split('\n')[0] || data?.error.code || 'npm audit signatures gave no result');
};

const run = (): Promise<AuditRun | undefined> =>
  new Promise((resolve) => {
    const signal = AbortSignal.timeout(NPM_TIMEOUT_MS);
    const child = spawn('npm', ['audit', 'signatures', '--json'], { stdio: ['ignore', 'pipe', 'ignore'], signal });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (status) => resolve({ status, stdout }));
  });

const canReach = async (url: string): Promise<boolean> => {
  try {
    await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(REACHED_MS) });
    return true;
  } catch {
    return false;
  }
};

/**
 * Verifies the registry's signatures of the packages that are installed, if it and the keys can be reached within 20
 * s.
 */
export const verifySignatures = async (): Promise<Verdict> => {
  if (!(await canReach(KEYS_URL))) return unknown(`${new URL(KEYS_URL).host} can't be reached`);
  const audit = await run();
  return audit ? judgeAudit(audit) : unknown(`there was no result within ${NPM_TIMEOUT_MS / 1_000} s`);
};
