import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { bundledProgram } from '../../../infra/local/processes/bundled-program.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { startDurableRun, startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const START = path.join(ROOT, 'infra/local/start.ts');

const ask = { model: 'sluice-tiny', messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 1 };

describe('a restart of npm start', () => {
  test('keeps the demo key, usage and login, and counts the last events, also after an ephemeral run', async () => {
    const askAs = ({ api_key, base_url }: TestRun, apiKey = api_key) =>
      new OpenAI({ apiKey, baseURL: `${base_url}/v1` }).chat.completions.create(ask);
    await using first = await startDurableRun();
    expect(first.output).toContain(first.base_url);
    expect(first.output).toContain(first.api_key);
    await askAs(first);
    const { secret, key_id } = await first.createKey();
    const { created } = await askAs(first, secret);
    expect(await first.stop()).toBe(0);

    await using ephemeral = await startDurableRun(first.state, '--ephemeral');
    expect(ephemeral.admin_password).not.toBe(first.admin_password);
    await ephemeral.stop();

    await using next = await startDurableRun(first.state, '--batch-window-ms', '200');
    expect(next.output).toContain(`${first.admin_email}  ${first.admin_password}`);
    expect(next.api_key).toBe(first.api_key);
    await askAs(next);
    expect(await next.eventsOf(`key_${next.api_key.slice(4, 22)}`)).toHaveLength(2);
    const body = JSON.stringify({ email: next.admin_email, password: next.admin_password });
    const login = await fetch(`${next.control_url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(login.status).toBe(200);
    const { listDays } = createRollupStore(next.database, next.tables.Usage as string);
    const days = () => Array.fromAsync(listDays(key_id, dayOf((created - 60) * 1_000), dayOf(Date.now())));
    await eventually(async () => (await days()).length > 0, 'the day has totals');
    expect(await days()).toEqual([expect.objectContaining({ model: first.model, totals: expect.objectContaining({ requests: 1 }) })]);
    expect(await next.close()).toBe(0);
  });
});

const failWith = async (program: string, ...flags: string[]) => {
  await using folder = temporaryFolder();
  const child = spawn(process.execPath, [program, '--state', folder.path, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
  const [code] = await once(child, 'close');
  return { code, lines: output.stdout.split('\n'), error: output.stderr };
};

describe('npm start', () => {
  let run: TestRun;
  beforeAll(async () => {
    run = await startTestRun('--stop-on-disconnect');
  });
  afterEach(() => run.control('container'));
  afterAll(() => run.close());

  test('prints a curl command that streams as pasted', async () => {
    const body = /-d '(.*)'/.exec(run.output)?.[1] as string;
    const url = /curl -N (\S+)/.exec(run.output)?.[1] as string;
    const authorization = /'authorization: ([^']+)'/.exec(run.output)?.[1] as string;
    const response = await fetch(url, { method: 'POST', body, headers: { authorization, 'content-type': 'application/json' } });
    const events = (await response.text()).trim().split('\n\n');
    expect(events.length).toBeGreaterThan(4);
    expect(events.at(-1)).toBe('data: [DONE]');
  });

  test('prints a JavaScript program that works as pasted, and the same for Python', async () => {
    const [, program = ''] = /node --input-type=module - <<'EOF'\n(.*?)\nEOF\n/s.exec(run.output) ?? [];
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env: {} });
    expect(stdout.trim()).not.toBe('');
    const [, python = ''] = /python3 - <<'EOF'\n(.*?)\nEOF\n/s.exec(run.output) ?? [];
    expect(python).toContain(`OpenAI(base_url="${run.base_url}/v1", api_key="${run.api_key}")`);
    expect(python).toContain(`model="${run.model}", messages=[{"role":"user",`);
  });

  test('prints each host with its reference, the admin login and where to read on', async () => {
    for (const url of [run.base_url, run.ondemand_url, run.control_url]) {
      expect(run.output).toMatch(new RegExp(`^  [\\w -]{15}${url} +\\w+`, 'm'));
      const [page = ''] = new RegExp(`${url}/docs`).exec(run.output) ?? [];
      expect((await fetch(page)).headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    expect(run.output).toContain(`${run.admin_email}  ${run.admin_password}`);
    expect(run.output).toContain('Use a real one with --container URL.');
    const pages = run.output.match(/docs\/[\w-]+\.md/g) ?? [];
    expect(pages).toHaveLength(2);
    for (const page of pages) expect(existsSync(path.join(ROOT, page))).toBe(true);
  });

  test('says in one line what to do if its port is in use, and if another run uses its state folder', async () => {
    const { port } = new URL(run.base_url);
    const program = await bundledProgram(START);
    const error = `Port ${port} is in use. Choose another one with --port, or use --port 0 for any free port.\n`;
    expect(await failWith(program, '--port', port, '--ephemeral', '--assembly', assemblyDir())).toMatchObject({ code: 1, error });
    const second = await failWith(program, '--state', run.state, '--assembly', assemblyDir(), '--quiet');
    expect(second.error).toBe(
      `Another run (process ${run.pids.runner}) uses the state folder ${run.state}. Stop it, or choose another folder with --state.\n`,
    );
    expect(second).toMatchObject({ code: 1, lines: [''] });
  });

  test('--stop-on-disconnect stops the model when its caller leaves, and bills what was delivered', async () => {
    // Slow enough for a busy machine to notice in time that the caller has left.
    await run.control('container', { token_delay_ms: 200 });
    const { secret, key_id } = await run.createKey();
    const client = new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1` });
    const stream = await client.chat.completions.create({
      ...ask,
      messages: [{ role: 'user', content: 'Tell me about rivers.' }],
      max_tokens: 4_000,
      temperature: 1,
      seed: 3,
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    await eventually(async () => (await run.eventsOf(key_id)).length > 0, 'the request is settled');
    expect(await run.eventsOf(key_id)).toEqual([expect.objectContaining({ outcome: 'client_closed', source: 'estimated' })]);
    // The event is written before the release.
    const isReleased = async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? { missing: true }).length === 0;
    await eventually(isReleased, 'nothing is in flight');

    // The same before the first token.
    const container = run.pids.container as number;
    process.kill(container, 'SIGSTOP');
    const leaving = new AbortController();
    const call = client.chat.completions.create({ ...ask, stream: true }, { signal: leaving.signal });
    await eventually(async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? {}).length === 1, 'the request is in flight');
    leaving.abort();
    await expect(call).rejects.toThrow();
    process.kill(container, 'SIGCONT');
    await eventually(async () => (await run.eventsOf(key_id)).length === 2, 'the second request is settled');
    await eventually(isReleased, 'nothing is in flight');
  });
});

describe('npm start with an unknown flag', () => {
  test('says in one line what to do, after a line that it printed before it loaded anything', async () => {
    const { code, lines, error } = await failWith(START, '--nonsense');
    expect(lines[0]).toBe('Loading Sluice ...');
    expect({ code, error }).toEqual({ code: 1, error: expect.stringMatching(/^Unknown option '--nonsense'.*\n$/) });
  });
});

describe('--container', () => {
  test('reports in one line that no server is there', async () => {
    await expect(startTestRun('--container', 'http://127.0.0.1:1')).rejects.toThrow('does not list a model');
  });
});
