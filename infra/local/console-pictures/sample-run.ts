import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { keptAssembly } from '../../assembly/kept-assembly.ts';
import { type LocalRun, startLocal } from '../run.ts';
import { seedDemo } from '../seed.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

export interface Login {
  email: string;
  password: string;
}

interface Call {
  login: Login;
  body?: object;
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
}

/** A local run in memory, whose clock stands where the pictures begin, and calls of its API. */
export interface SampleRun {
  run: LocalRun;
  admin: Login;
  model: string;
  /** Calls the control plane as a user. @throws Error with the reply if it isn't a success */
  call<Reply>(path: string, call: Call): Promise<Reply>;
  /** The same without a user, such as a login. */
  callAsNobody<Reply>(path: string, body: object): Promise<Reply>;
  moveTo(ms: number): void;
  close(): Promise<void>;
}

const send = async <Reply>(url: string, method: string, headers: Record<string, string>, body: object | undefined): Promise<Reply> => {
  const content = body && { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...content });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Reply;
};

/** Starts the run. @param startMs the time of its clock */
export const startSampleRun = async (startMs: number): Promise<SampleRun> => {
  const stateDir = await mkdtemp(path.join(tmpdir(), 'sluice-pictures-'));
  const run = await startLocal({
    assemblyDir: await keptAssembly(ROOT),
    stateDir,
    ephemeral: true,
    port: 0,
    environments: undefined,
    stopOnDisconnect: false,
    tokenDelayMs: 4,
    batchWindowMs: 200,
    quiet: true,
  });
  const moveTo = (ms: number): void => run.clock.moveTo(ms - Date.now());
  moveTo(startMs);
  const demo = await seedDemo(run, undefined);
  const control = run.hosts.control as string;
  const callAsNobody = <Reply>(route: string, body: object): Promise<Reply> => send(control + route, 'POST', {}, body);
  // By time, because moving the clock ends sessions.
  const tokens = new Map<string, { token: string; untilMs: number }>();
  const tokenOf = async ({ email, password }: Login): Promise<string> => {
    const known = tokens.get(email);
    if (known && known.untilMs > run.clock.now()) return known.token;
    const { access_token: token } = await callAsNobody<{ access_token: string }>('/v1/auth/login', { email, password });
    tokens.set(email, { token, untilMs: run.clock.now() + 300_000 });
    return token;
  };
  return {
    run,
    admin: { email: demo.admin_email, password: demo.admin_password },
    model: demo.model,
    callAsNobody,
    call: async (route, { login, body, method = body ? 'POST' : undefined }) =>
      send(control + route, method ?? 'GET', { authorization: `Bearer ${await tokenOf(login)}` }, body),
    moveTo,
    async close() {
      await run.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
};
