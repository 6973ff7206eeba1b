import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { patternOf, shareWalk, stepsOf, type Walk } from '../../support/clients/walk-through.ts';

const root = path.join(import.meta.dirname, '../../..');
const pageOf = (name: string): string => readFileSync(path.join(root, 'docs', name), 'utf8');
const page = pageOf('api.md');
const steps = stepsOf(page);
const programs = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, program = '']) => program);
const MARK = '=====';
// As a person types it, but without the meter of progress, and failing where a person would see an error.
const CURL = 'curl() { command curl -s --fail-with-body "$@"; }\n';

let walk: Walk;
let variables: Record<string, string>;
beforeAll(async () => {
  walk = await shareWalk();
  const { run } = walk;
  variables = {
    ONDEMAND_URL: run.ondemand_url ?? '',
    ONDEMAND_API_KEY: run.ondemand_api_key,
    ONDEMAND_MODEL: run.ondemand_model,
    USER_ID: randomUUID(),
  };
});
afterAll(() => walk.close());

const follow = async (of: typeof steps): Promise<void> => {
  const output = await walk.shell(CURL + of.map(({ command }) => `${command}\necho; echo ${MARK}\n`).join(''));
  const printed = output.split(MARK).map((text) => text.trim());
  for (const [i, { command, printed: shown }] of of.entries()) {
    expect([command, shown !== undefined]).toEqual([command, command.includes('curl ')]);
    expect({ command, reply: printed[i] }).toEqual({ command, reply: expect.stringMatching(patternOf(shown ?? '')) });
  }
};

test.each([
  ['embeddings.md', 3],
  ['routing.md', 1],
])('docs/%s shows the replies of its examples, which work as pasted', async (name, curls) => {
  const own = stepsOf(pageOf(name));
  expect(own.filter(({ command }) => command.includes('curl '))).toHaveLength(curls);
  await follow(own);
});

describe('docs/api.md', () => {
  test('shows the reply of every example, which works as pasted, in the order of the page', async () => {
    const commands = steps.map(({ command }) => command).filter((command) => command.includes('curl '));
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((command) => command.includes('$ONDEMAND_URL'))).toHaveLength(6);
    await follow(steps);
  });

  test('has programs that run as saved', async () => {
    expect(programs).toHaveLength(1);
    for (const program of programs) {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env: variables });
      expect(stdout.trim().split('\n').length).toBeGreaterThanOrEqual(2);
    }
  });

  test('takes the variables for the on-demand host from local.json', () => {
    const facts = [...page.matchAll(/^export (\w+)=\$\(node -p "require\('\.\/\.sluice\/local\.json'\)\.(\w+)"\)/gm)];
    const local = walk.run as unknown as Record<string, string>;
    expect(Object.fromEntries(facts.map(([, name, fact = '']) => [name, local[fact]]))).toEqual({
      ONDEMAND_URL: variables.ONDEMAND_URL,
      ONDEMAND_API_KEY: variables.ONDEMAND_API_KEY,
      ONDEMAND_MODEL: variables.ONDEMAND_MODEL,
    });
  });

  test('shows every route of the host', () => {
    for (const route of ['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/messages/count_tokens', '/v1/responses'])
      expect(page).toContain(`POST ${route}`);
    for (const route of ['/tokenize', '/detokenize']) expect(page).toContain(`POST ${route}`);
    for (const route of ['/v1/models', '/v1/models/{model}', '/v1/key', '/health', '/version', '/openapi.json', '/docs'])
      expect(page).toContain(`GET ${route}`);
  });
});
