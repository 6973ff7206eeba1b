import { startTestRun } from '../support/clients/local-run.ts';
import { eventually } from '../support/eventually.ts';
import { createEveryKindOfKey } from '../support/fixtures/every-kind-of-key.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ledgerFaults } from './ledger.ts';
import { LAST_RELEASE, unpackRelease } from './release-archive.ts';
import { sendDuring } from './traffic.ts';

const RESPONSES = ['/v1/responses', '/v1/responses/{id}'];
const MODELS = ['/v1/models', '/v1/models/{model+}', '/v1/deployments', '/v1/deployments/{id}'];
const DEPLOYMENTS = ['/v1/deployments', '/v1/deployments/{id}'];
const lacking = (field: string): string => `must have required property '${field}'`;

// Where replies of the last release, which these tests read, differ from this version's document: by path, the fault.
const DIFFERENCES: readonly (readonly [path: string, fault: string])[] = [
  ['/v1/billing/profile', lacking('invoice_note')],
  ['/v1/billing/invoices', lacking('sums')],
  ['/v1/billing/invoices', lacking('is_complete')],
  ...['/v1/api-keys', '/v1/api-keys/{id}', '/v1/api-keys/{id}/rotate'].map((path) => [path, lacking('purpose')] as const),
  ...['/v1/api-keys', '/v1/api-keys/{id}', '/v1/api-keys/{id}/rotate'].flatMap((path) =>
    ['project_id', 'per_user', 'no_fallback'].map((field) => [path, lacking(field)] as const),
  ),
  ['/v1/audit-log', lacking('searched_until')],
  ...['alias', 'side', 'project_id', 'fallbacks'].map((field) => ['/v1/observability/metrics', lacking(field)] as const),
  ...['/v1/organizations', '/v1/organizations/{id}', '/v1/organizations/{id}/limits'].flatMap((path) =>
    ['has_default_concurrency', 'require_second_factor', 'fresh_login_minutes'].map((field) => [path, lacking(field)] as const),
  ),
  ...['permissions', 'second_factor', 'organization_name', 'currency'].map((field) => ['/v1/me', lacking(field)] as const),
  ...MODELS.flatMap((path) => ['structured_outputs', 'task', 'embedding', 'fallbacks'].map((field) => [path, lacking(field)] as const)),
  ...DEPLOYMENTS.flatMap((path) =>
    ['schedule', 'current_window', 'next_window', 'shadow', 'adapters'].map((field) => [path, lacking(field)] as const),
  ),
  ...RESPONSES.flatMap((path) =>
    [
      ...['access_programs', 'moderation', 'cache_write_tokens', 'presence_penalty', 'frequency_penalty'].map(lacking),
      '/service_tier must be ',
    ].map((fault) => [path, fault] as const),
  ),
];

const GRANTED = 1_000_000_000n;

/** A local run of this version with the last release's functions beside its own, over one state. */
export const startUpgradeRun = async () => {
  const folder = temporaryFolder();
  unpackRelease(LAST_RELEASE, folder.path);
  const run = await startTestRun('--second-release', folder.path, '--batch-window-ms', '100');
  for (const [path, fault] of DIFFERENCES) run.expectFault(path, fault);
  /** Sets the share of the invocations that the last release gets. */
  const setShare = async (other_share: number): Promise<void> => {
    const response = await fetch(`${run.lambda_endpoint}/releases`, { method: 'PUT', body: JSON.stringify({ other_share }) });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  };
  const processesOf = async (shortName: string): Promise<number[]> => (await run.facts()).pids.functions[`${shortName}:other`] ?? [];
  // New processes load the scripts anew.
  const replaceScripts = async (of: string, change?: (script: string) => string): Promise<void> => {
    await setShare(0);
    unpackRelease(LAST_RELEASE, folder.path, change && { of, change });
    const old = await processesOf(of);
    for (const pid of old) process.kill(pid, 'SIGKILL');
    const haveEnded = async (): Promise<boolean> => (await processesOf(of)).every((pid) => !old.includes(pid));
    await eventually(haveEnded, `the processes of the last release's ${of} have ended`);
  };
  return {
    ...run,
    setShare,
    /**
     * Until it is disposed, a function of the last release has other code.
     * @param change the text of each of its scripts
     */
    changeRelease: async (shortName: string, change: (script: string) => string): Promise<AsyncDisposable> => {
      await replaceScripts(shortName, change);
      return { [Symbol.asyncDispose]: () => replaceScripts(shortName) };
    },
    /** How many invocations of each function this version and the last release got. */
    invocations: async (): Promise<Record<string, { own: number; other: number }>> => {
      const response = await fetch(`${run.lambda_endpoint}/releases`);
      return ((await response.json()) as { invocations: Record<string, { own: number; other: number }> }).invocations;
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      // The replies are compared with the document of this version, which the kept bundles don't have.
      await setShare(0);
      await run.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};
export type UpgradeRun = Awaited<ReturnType<typeof startUpgradeRun>>;

/**
 * Upgrades a run under load: only the last release, both, only this version.
 * @param requests of each of the three phases, at least
 * @returns the number of requests, and what was wrong with replies, counters and totals
 */
export const upgradeUnderLoad = async (run: UpgradeRun, requests: number): Promise<{ requests: number; faults: string[] }> => {
  const { database, limiters, tables } = run;
  const callers = await createEveryKindOfKey({ database, limiters, accountsTable: tables.Accounts as string }, GRANTED);
  const rollups = async (): Promise<number> => (await run.invocations()).rollup?.other ?? 0;
  const before = await rollups();
  const phases = [
    { requests, begin: () => run.setShare(1) },
    {
      requests,
      begin: async () => {
        // Batches of the first phase can come after it.
        await eventually(async () => (await rollups()) > before, 'a rollup by the last release');
        await run.setShare(0.5);
      },
    },
    { requests, begin: () => run.setShare(0) },
  ];
  const traffic = await sendDuring(run, callers, phases);
  const ledger = await ledgerFaults(run, callers, { granted: GRANTED, requests: traffic.requests }).catch((error: unknown) => [
    String(error),
  ]);
  return { requests: traffic.requests, faults: [...traffic.faults, ...ledger] };
};
