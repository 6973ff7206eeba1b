import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AdminSetUserPasswordCommand } from '@aws-sdk/client-cognito-identity-provider';
import { isAlive } from '../../../infra/bundling/is-alive.ts';
import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import { type LocalFacts, readFacts } from '../../../infra/local/local-facts.ts';
import { forgetUses, readUses } from '../../../infra/local/permissions/permission-log.ts';
import { bundledProgram } from '../../../infra/local/processes/bundled-program.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createUserPool, createUserPoolClient } from '../../../shared/identity/user-pool.ts';
import { createUserStore } from '../../../shared/identity/user-store.ts';
import { createModelStore } from '../../../shared/models/model-store.ts';
import { assemblyDir } from '../assembly/assembly.ts';
import { openDirectDatabase } from '../emulators/direct-database.ts';
import { isChecked, recordUses } from '../emulators/used-permissions.ts';
import { logFolders } from '../run-logs.ts';
import { isOfPath, type ReplyFault } from './document-faults.ts';
import { openTestKeys } from './test-keys.ts';
import { watchReplies } from './watch-replies.ts';

const START = path.join(import.meta.dirname, '../../../infra/local/start.ts');

/** Runs `npm start` with these flags, on random ports, in a new state folder, with its database in memory. */
export const startTestRun = async (...flags: string[]) => startRun({ flags });

/** The same with its database on disk, in a new state folder or a given one. */
export const startDurableRun = async (state?: string, ...flags: string[]) => startRun({ flags, durable: true, ...(state && { state }) });

/** The same with the processes of all functions from the start, for what measures them. */
export const startWholeRun = async (...flags: string[]) => startRun({ flags, hasLateFunctions: false });

/**
 * A local run without flags that the suites of one Jest worker use one after the other. It is started for the first
 * of them and ends after all tests, so a suite must not stop it, must not expect that it is the first one to use it,
 * and gets it with all faults, clocks and timeouts reset.
 */
export const shareTestRun = async () => {
  const folder = process.env.SLUICE_TEST_SHARED;
  if (!folder) throw new Error('Nothing says where shared runs are: test/support/jest/set-up.mjs has not run.');
  // By process: a worker that is replaced has the same number as the one before, whose run is still ending.
  const { state, child } = await findShared(path.join(folder, `worker-${process.pid}`));
  forgetUses(state);
  const run = await connect({ state, output: '', end: async () => null });
  await resetRun(run);
  child?.unref();
  return run;
};

// Shared runs are numbered, because one of them may have ended before its time.
const findShared = async (prefix: string): Promise<{ state: string; child?: ChildProcess }> => {
  for (let number = 1; ; number++) {
    const state = `${prefix}-${number}`;
    const facts = await readFacts(state);
    if (facts && isAlive(facts.pids.runner)) return { state };
    if (facts) continue;
    const child = await launch({ flags: [], durable: false, state });
    await untilReady(child);
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.channel?.unref();
    return { state, child };
  }
};

// Counts of an address, an account, and both.
const LIMITED = /#(address|account|pair)#/;

// All suites have one address and one admin, and earlier ones have used some of their sign-ins and invitations.
const forgetAttempts = async ({ database, tables }: TestRun): Promise<void> => {
  const TableName = tables.Attempts as string;
  const { Items = [] } = await database.scan({ TableName });
  const ids = Items.map(({ id }) => String(id)).filter((id) => LIMITED.test(id));
  await Promise.all(ids.map((id) => database.delete({ TableName, Key: { id } })));
};

// Earlier suites may have set faults, clocks and timeouts.
const resetRun = async (run: TestRun): Promise<void> => {
  await forgetAttempts(run);
  for (const server of Object.keys(CONTROLLED) as ControlledServer[]) await run.control(server);
  for (const setting of ['clock', 'timeouts'] as const) await run.controlFunctions(setting);
};

interface Launch {
  flags: string[];
  durable: boolean;
  state: string;
  // Most suites use few functions. Several environments are for races, which the start of a process would decide.
  hasLateFunctions?: boolean | undefined;
}

const launch = async ({ flags, durable, state, hasLateFunctions = !flags.includes('--environments') }: Launch): Promise<ChildProcess> =>
  spawn(
    process.execPath,
    [
      await bundledProgram(START),
      '--port',
      '0',
      '--quiet',
      '--token-delay-ms',
      '0',
      '--state',
      state,
      '--assembly',
      assemblyDir(),
      // Runs with several environments are for races under load, which a check of each call would slow down.
      ...(isChecked() && !flags.includes('--environments') ? ['--check-permissions'] : []),
      ...(hasLateFunctions ? ['--late-functions'] : []),
      ...(durable ? [] : ['--ephemeral']),
      ...flags,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Jest gives each test file its own copy of process.env, which spawn would not pass on by itself.
      env: { ...process.env },
    },
  );

const startRun = async ({
  flags,
  durable = false,
  state = mkdtempSync(path.join(tmpdir(), 'sluice-run-')),
  hasLateFunctions,
}: Partial<Launch> & Pick<Launch, 'flags'>) => {
  const child = await launch({ flags, durable, state, hasLateFunctions });
  const output = await untilReady(child);
  const end = async (): Promise<number | null> => {
    const code = await stop(child);
    rmSync(state, { recursive: true, force: true });
    return code;
  };
  const run = await connect({ state, output, end }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    ...run,
    /** Ends the run as Ctrl-C does and returns its exit code. Its state folder stays. */
    stop: (): Promise<number | null> => {
      run.database.destroy();
      return stop(child);
    },
  };
};

interface Connection {
  state: string;
  output: string;
  end: () => Promise<number | null>;
}

const connect = async ({ state, output, end: endRun }: Connection) => {
  const facts = await readFacts(state);
  if (!facts) throw new Error('npm start reported that it was ready without writing local.json.');
  const database = openLocalDatabase(facts.dynamodb_endpoint);
  // Its calls take half as long as those of the SDK's client.
  const keys = openTestKeys(openDirectDatabase(facts.dynamodb_endpoint), facts.tables);
  const replies = watchReplies(...[facts.base_url, facts.ondemand_url, facts.control_url].filter((url) => url !== null));
  const logs = path.join(state, 'logs');
  logFolders().add(logs);
  const end = async (): Promise<number | null> => {
    logFolders().delete(logs);
    const faults = (await replies.faults()).filter((fault) => !isExpected(fault));
    const uses = readUses(state);
    const denied = uses.filter(({ kind, action }) => kind === 'denied' && !expectedDenials.has(action));
    recordUses(uses);
    database.destroy();
    const code = await endRun();
    if (denied.length > 0) throw new Error(`Calls that the roles do not allow: ${JSON.stringify(denied.slice(0, 5), null, 1)}`);
    if (faults.length > 0) throw new Error(`Replies differ from the OpenAPI document: ${JSON.stringify(faults.slice(0, 5), null, 1)}`);
    return code;
  };
  const expectedDenials = new Set<string>();
  const expectedFaults: { path: string; fault: string }[] = [];
  const isExpected = ({ path: of, fault }: ReplyFault): boolean =>
    expectedFaults.some(({ path: documented, fault: part }) => isOfPath(of, documented) && fault.includes(part));
  return {
    ...facts,
    state,
    output,
    /** The test makes a function call what its role does not allow. */
    expectDenial: (action: string): void => void expectedDenials.add(action),
    /** Replies of a path can differ from the document in this way, because another release makes them. */
    expectFault: (documented: string, fault: string): void => void expectedFaults.push({ path: documented, fault }),
    database,
    ...keys,
    models: createModelStore(database, facts.tables.Models as string),
    identity: {
      /** Creates a user in the identity provider alone, so that the control plane has no record of them. */
      createUser: (email: string, password: string): Promise<void> => createUnrecordedUser(facts, email, password),
    },
    accounts: {
      users: createUserStore(createRecordTable(database, facts.tables.Accounts as string)),
      /** Sets the amount that a limiter has counted as spent. */
      spend: async (limiterId: string, nanos: bigint): Promise<void> => keys.limiters.configure(limiterId, { spent: nanos }),
      /** Sets the number of keys that an organization has counted. */
      fillKeyCount: async (organization: string, count: number): Promise<void> => {
        const row = { account: organization, record: 'keys', count };
        await database.put({ TableName: facts.tables.Accounts as string, Item: row });
      },
    },
    /** The current facts: process ids change when a process is restarted. */
    facts: async (): Promise<LocalFacts> => (await readFacts(state)) as LocalFacts,
    /** Sets faults and delays of the model's container or of an emulator; without settings, ends them. */
    control: async (server: ControlledServer, settings?: Record<string, unknown>): Promise<void> => {
      const url = `${facts[CONTROLLED[server]]}/control`;
      const body = settings && { body: JSON.stringify(settings), headers: { 'content-type': 'application/json' } };
      const response = await fetch(url, { method: settings ? 'PUT' : 'DELETE', ...body });
      if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    },
    /** Closes the connections to the SageMaker emulator that no call is using. */
    closeIdleConnections: async (): Promise<void> => {
      const response = await fetch(`${facts.sagemaker_url}/control/idle-connections`, { method: 'DELETE' });
      if (!response.ok) throw new Error(`/control/idle-connections: ${response.status}`);
    },
    /** Sets the clock or the timeouts of the functions; without settings, ends that. */
    controlFunctions: async (path: 'clock' | 'timeouts', settings?: object): Promise<void> => {
      const body = settings && { body: JSON.stringify(settings) };
      const response = await fetch(`${facts.lambda_endpoint}/${path}`, { method: settings ? 'PUT' : 'DELETE', ...body });
      if (!response.ok) throw new Error(`/${path}: ${response.status} ${await response.text()}`);
    },
    /** The calls that the outage of an emulator has met. */
    metCalls: async (server: 's3' | 'sqs' | 'cognito'): Promise<number> =>
      ((await (await fetch(`${facts[CONTROLLED[server]]}/control`)).json()) as { calls: number }).calls,
    /** The log of a function. */
    logOf: (name: string): Promise<string> => readFile(path.join(logs, `${name}.log`), 'utf8'),
    close: end,
    [Symbol.asyncDispose]: async (): Promise<void> => void (await end()),
  };
};

const createUnrecordedUser = async ({ cognito_endpoint, user_pools }: LocalFacts, email: string, password: string): Promise<void> => {
  const client = createUserPoolClient({
    endpoint: cognito_endpoint as string,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const { id: poolId = '', client_id: clientId = '' } = user_pools.Users ?? {};
  await createUserPool(client, { poolId, clientIds: { api: clientId } }).createUser({ email, temporaryPassword: password });
  await client.send(new AdminSetUserPasswordCommand({ UserPoolId: poolId, Username: email, Password: password, Permanent: true }));
  client.destroy();
};

export type TestRun = Awaited<ReturnType<typeof shareTestRun>>;

// Tests set faults of these servers; the values name their URLs in `local.json`.
const CONTROLLED = {
  container: 'container_url',
  sagemaker: 'sagemaker_url',
  s3: 's3_endpoint',
  sqs: 'sqs_endpoint',
  cognito: 'cognito_endpoint',
} as const;
type ControlledServer = keyof typeof CONTROLLED;

// A bound against hanging: on a quiet machine a run is ready within seconds.
const START_LIMIT_MS = 180_000;

const untilReady = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let output = '';
    const tooLate = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`npm start was not ready within ${START_LIMIT_MS} ms:\n${output}`));
    }, START_LIMIT_MS);
    const read = (text: Buffer): void => {
      output += text.toString();
      if (!output.includes('curl -N')) return;
      clearTimeout(tooLate);
      resolve(output);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => {
      clearTimeout(tooLate);
      reject(new Error(`npm start ended with ${code}:\n${output}`));
    });
  });

const stop = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
