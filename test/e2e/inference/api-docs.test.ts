import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

const root = path.join(import.meta.dirname, '../../..');
const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');

// Resolves quotes, line continuations and variables as the shell does.
const wordsOf = (command: string, variables: Record<string, string>): string[] => {
  const filled = (text: string): string => text.replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? '');
  return [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, single, double, bare]) =>
    single !== undefined ? single : filled((double ?? bare ?? '').replaceAll('\\"', '"')),
  );
};

// In the order of the page.
const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block
    .split(/\n(?=curl )/)
    .map((part) => part.slice(Math.max(0, part.indexOf('curl '))))
    .filter((part) => part.startsWith('curl '))
    .map((part) => part.trim()),
);

const programs = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, program = '']) => program);

const send = (command: string, variables: Record<string, string>): Promise<Response> => {
  const words = wordsOf(command, variables).slice(1);
  const after = (flag: string): string[] => words.flatMap((word, i) => (word === flag ? [words[i + 1] ?? ''] : []));
  const [body] = after('-d');
  const [method = body === undefined ? 'GET' : 'POST'] = after('-X');
  const headers = Object.fromEntries(after('-H').map((header) => header.split(/:\s*/, 2) as [string, string]));
  const url = words.find((word) => word.startsWith('http')) ?? '';
  return fetch(url, { method, headers, ...(body !== undefined && { body }) });
};

let run: TestRun;
let variables: Record<string, string>;
beforeAll(async () => {
  run = await shareTestRun();
  variables = {
    BASE_URL: run.base_url,
    API_KEY: run.api_key,
    ONDEMAND_URL: run.ondemand_url ?? '',
    ONDEMAND_API_KEY: run.ondemand_api_key,
    ONDEMAND_MODEL: run.ondemand_model,
    USER_ID: randomUUID(),
  };
});
afterAll(async () => {
  await run.close();
});

describe('docs/api.md', () => {
  test('has only examples that work as pasted, in the order of the page', async () => {
    expect(commands.length).toBeGreaterThan(12);
    expect(commands.filter((command) => command.includes('$ONDEMAND_URL'))).toHaveLength(6);
    const known = { ...variables };
    for (const command of commands) {
      const response = await send(command, known);
      const text = await response.text();
      expect({ command, status: response.status, text: response.ok ? '' : text }).toEqual({ command, status: 200, text: '' });
      const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
      if (id && !known.ID) known.ID = id;
    }
  });

  test('has only programs that run as saved', async () => {
    expect(programs).toHaveLength(1);
    for (const program of programs) {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env: variables });
      expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(2);
    }
  });

  test('gives the variables for the on-demand host the values of local.json', () => {
    const facts = [...page.matchAll(/^export (\w+)=\$\(node -p "require\('\.\/\.sluice\/local\.json'\)\.(\w+)"\)/gm)];
    const local = run as unknown as Record<string, string>;
    expect(Object.fromEntries(facts.map(([, name, fact = '']) => [name, local[fact]]))).toEqual({
      ONDEMAND_URL: variables.ONDEMAND_URL,
      ONDEMAND_API_KEY: variables.ONDEMAND_API_KEY,
      ONDEMAND_MODEL: variables.ONDEMAND_MODEL,
    });
  });

  test('shows every POST route of the host', () => {
    for (const route of ['POST /v1/chat/completions', 'POST /v1/completions', 'POST /v1/responses', 'POST /tokenize', 'POST /detokenize'])
      expect(page).toContain(route);
    for (const route of ['/v1/models', '/v1/models/{model}', '/v1/key', '/health', '/version', '/openapi.json', '/docs'])
      expect(page).toContain(`GET ${route}`);
  });
});
