import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isFull } from '../sized.ts';

const DOWNLOAD_TIMEOUT_MS = 180_000;

const AGENTS = {
  'claude-code-2.1.331': {
    specifier: '@anthropic-ai/claude-code-linux-x64@2.1.331',
    integrity: 'sha512-IpvZ9c/NopO/sr8ThWLVAUDXVAFT3auLWrhbR6wq1dgkuJfZYdTtoXf6GajE5KL9R58iTt/86OPXrJAsM4+l8g==',
    program: 'package/claude',
  },
  'codex-0.169.0': {
    specifier: '@openai/codex@0.169.0-linux-x64',
    integrity: 'sha512-o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==',
    program: 'package/vendor/x86_64-unknown-linux-musl/bin/codex',
  },
};
export type AgentName = keyof typeof AGENTS;

const run = promisify(execFile);

const download = async (name: AgentName, folder: string): Promise<void> => {
  const { specifier, integrity } = AGENTS[name];
  await mkdir(path.dirname(folder), { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    const pack = ['pack', specifier, '--pack-destination', temporary, '--silent'];
    // Jest gives each test file its own copy of process.env, which execFile would not pass on by itself.
    const packed = await run('npm', pack, { timeout: DOWNLOAD_TIMEOUT_MS, env: { ...process.env } });
    const tarball = path.join(temporary, packed.stdout.trim());
    const digest = createHash('sha512')
      .update(await readFile(tarball))
      .digest('base64');
    if (`sha512-${digest}` !== integrity) throw new Error(`${specifier} is not the package that was pinned.`);
    await run('tar', ['-xzf', tarball, '-C', temporary]);
    await rm(tarball);
    // Another worker may have been faster.
    await rename(temporary, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
};

/**
 * The path of a coding agent's program, or undefined where it can't be run: the suite then prints the reason and skips
 * its tests. It is read from the folder in SLUICE_AGENTS, or from `~/.cache/sluice-agents`. In CI and at the full sizes
 * of tests, it is downloaded once from the npm registry. No dependency, because one has 170 MB and one no open licence.
 */
export const agentBinary = async (name: AgentName): Promise<string | undefined> => {
  const folder = path.join(process.env.SLUICE_AGENTS ?? path.join(homedir(), '.cache/sluice-agents'), name);
  const program = path.join(folder, AGENTS[name].program);
  if (existsSync(program)) return program;
  const skip = (reason: string): undefined => void process.stderr.write(`\nSkipped: the tests that run ${name}. ${reason}\n`);
  if (process.platform !== 'linux' || process.arch !== 'x64') return skip('They need Linux on x64.');
  if (!isFull && !process.env.CI) return skip("It is not installed. 'npm run test:full' downloads it.");
  try {
    await download(name, folder);
    return program;
  } catch (error) {
    return skip(`It can't be downloaded: ${String(error)}`);
  }
};
