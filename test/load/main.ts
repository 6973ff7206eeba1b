import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { keptAssembly } from '../../infra/assembly/kept-assembly.ts';
import { rebuildTotals } from '../../infra/tools/admin/rebuild/rebuild-totals.ts';
import { dayOf } from '../../shared/time/utc.ts';
import { startTestRun, type TestRun } from '../support/clients/local-run.ts';
import { readOptions } from './options.ts';
import { toReport } from './report.ts';
import { runLoad } from './run-load.ts';

const PROJECT_ROOT = path.join(import.meta.dirname, '../..');
const MAX_MODEL_MS = 20_000;
// Callers that all began at the same moment would measure only that moment.
const RAMP_MS = 10_000;
const BATCH_WINDOW_MS = '10000';
const SETTLE_MS = 180_000;

// Returns true if the load found nothing wrong.
const main = async (): Promise<boolean> => {
  const { hasStreams, ...options } = readOptions();
  // The local run ends with this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  progress('synthesis');
  const assemblyDir = await keptAssembly(PROJECT_ROOT);
  process.env.SLUICE_TEST_ASSEMBLY = assemblyDir;
  const run = await startTestRun('--batch-window-ms', BATCH_WINDOW_MS, ...(hasStreams ? [] : ['--no-streams']));
  process.once('exit', () => rmSync(run.state, { recursive: true, force: true }));
  try {
    const modelBound = { ms: Math.min(options.bound.ms, MAX_MODEL_MS) };
    const findings = await runLoad(run, {
      ...options,
      rampMs: RAMP_MS,
      modelBound,
      settleMs: SETTLE_MS,
      progress,
      ...(!hasStreams && { makeTotals: () => makeTotals(run) }),
    });
    console.log(`\n${options.callers} callers on ${cpus().length} cores, which they share with all servers.\n\n${toReport(findings)}\n`);
    return findings.faults.length === 0;
  } finally {
    await run.close();
  }
};

// In place of the functions that read streams.
const makeTotals = async ({ database, tables }: TestRun): Promise<void> => {
  const { Keys: keys = '', Usage: usage = '', Deployments: deployments = '' } = tables;
  await rebuildTotals(database, { keys, usage, deployments }, dayOf(Date.now()));
};

const progress = (text: string): void => console.error(`load: ${text}`);

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  console.error(error);
  process.exit(1);
}
