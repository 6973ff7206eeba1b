import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Recording } from './terminal-picture.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');
const STATE = '.sluice';
const START = 'npm start -- --ephemeral';
const START_PROGRAM = ['infra/local/start.ts', '--ephemeral'];
const PROGRAM = `${STATE}/try.mjs`;
const ORGANIZATION = 'org_demo';
const TIMELINE = `curl -s "$CONTROL/v1/observability/requests/$ID?format=text&organization=${ORGANIZATION}" -H "$ADMIN"`;
// `npm start` prints more than fits: its progress, and programs to paste.
const FIRST_SHOWN = /^Sluice is running/;
const SHOWN_BEFORE = /^Synthesizing the app: /;
const LAST_SHOWN = /^ {2}Admin login /;
const READY = 'curl -N ';
const POLL_MS = 1_000;
// A request can be found a minute after its end.
const MAX_POLLS = 120;

const RunFacts = z.object({
  control_url: z.string(),
  admin_email: z.string(),
  admin_password: z.string(),
  api_key: z.string(),
  ondemand_api_key: z.string(),
});
type RunFacts = z.infer<typeof RunFacts>;

const run = async (command: string, variables: NodeJS.ProcessEnv, onText: (text: string) => void): Promise<void> => {
  const child = spawn('bash', ['-c', command], { cwd: ROOT, env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').on('data', onText);
  await once(child, 'close');
};

const readProgram = async (): Promise<string> => {
  const [, program] = /```js\n([\s\S]*?)```/.exec(await readFile(path.join(ROOT, 'docs/local-run.md'), 'utf8')) ?? [];
  if (program === undefined) throw new Error('docs/local-run.md has no JavaScript program to record. Add it again.');
  return program;
};

const fetchJson = async <T>(url: string, init: RequestInit = {}): Promise<T> => {
  const response = await fetch(url, { ...init, headers: { 'content-type': 'application/json', ...init.headers } });
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
};

const findRequest = async (facts: RunFacts): Promise<{ CONTROL: string; ADMIN: string; ID: string }> => {
  const { control_url: control, admin_email: email, admin_password: password } = facts;
  const body = JSON.stringify({ email, password });
  const { access_token } = await fetchJson<{ access_token: string }>(`${control}/v1/auth/login`, { method: 'POST', body });
  const authorization = `Bearer ${access_token}`;
  for (let i = 0; i < MAX_POLLS; i++) {
    const search = `${control}/v1/observability/requests?organization=${ORGANIZATION}`;
    const { data } = await fetchJson<{ data: { id: string }[] }>(search, { headers: { authorization } });
    if (data[0]) return { CONTROL: control, ADMIN: `authorization: ${authorization}`, ID: data[0].id };
    await sleep(POLL_MS);
  }
  throw new Error('The request of the recording was not found within two minutes. Record again when the machine is less busy.');
};

// They are worthless, but whole ones would keep scanners of secrets busy.
const withoutSecrets = (text: string, { api_key, ondemand_api_key, admin_password }: RunFacts): string =>
  [api_key, ondemand_api_key, admin_password].reduce((shown, secret) => shown.replaceAll(secret, `${secret.slice(0, 4)}…`), text);

/**
 * Records a local run on its default ports: its start, a chat by the program of docs/local-run.md, and the timeline
 * of that request.
 * @throws Error if the local run doesn't start, for instance because another one uses the ports
 */
export const recordTerminal = async (): Promise<Recording> => {
  const recording: Recording = [];
  const startMs = performance.now();
  const add = (text: string, typed?: true): void => {
    recording.push({ ms: Math.round(performance.now() - startMs), text, ...(typed && { typed }) });
  };

  add(`$ ${START}\n`, true);
  // Not by npm, which doesn't pass the signal on that ends the run.
  const server = spawn(process.execPath, START_PROGRAM, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(server, 'close');
  try {
    await new Promise<void>((resolve, reject) => {
      let [rest, isShown, wasShown] = ['', false, false];
      server.stdout.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (FIRST_SHOWN.test(line)) isShown = true;
          if ((isShown && !wasShown) || SHOWN_BEFORE.test(line)) add(`${line}\n`);
          if (LAST_SHOWN.test(line)) wasShown = true;
          if (line.startsWith(READY)) resolve();
        }
      });
      server.once('close', () => reject(new Error('The local run ended before it was ready. Stop other local runs, and record again.')));
    });
    await writeFile(path.join(ROOT, PROGRAM), await readProgram());
    const facts = RunFacts.parse(JSON.parse(await readFile(path.join(ROOT, STATE, 'local.json'), 'utf8')));

    add(`\n$ node ${PROGRAM}\n`, true);
    await run(`node ${PROGRAM}`, {}, add);
    const variables = await findRequest(facts);
    add(`\n$ ${TIMELINE}\n`, true);
    await run(TIMELINE, variables, add);
    return recording.map((piece) => ({ ...piece, text: withoutSecrets(piece.text, facts) }));
  } finally {
    server.kill('SIGINT');
    await closed;
  }
};
