import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { readCommand } from '../../../../infra/tools/admin/options.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const actorOf = (...args: string[]) => readCommand(['balance', '--org', 'org_1', ...args], 0).actor;

test('an action is recorded under the name of the shell’s user, unless another is given', () => {
  expect(actorOf()).toBe(os.userInfo().username);
  expect(actorOf('--actor', 'finance')).toBe('finance');
});

test('an action of a user without a name, as containers have, is recorded under its number', () => {
  const spy = jest.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  });
  expect(actorOf()).toBe(`uid ${process.getuid?.()}`);
  expect(actorOf('--actor', 'finance')).toBe('finance');
  spy.mockRestore();
});

describe('a file of a model', () => {
  const folder = temporaryFolder();
  afterAll(async () => await folder[Symbol.asyncDispose]());
  const refusalOf = (model: object): string => {
    const file = path.join(folder.path, 'model.json');
    writeFileSync(file, JSON.stringify(model));
    try {
      readCommand(['publish-model', '--file', file], 0);
    } catch (error) {
      return (error as Error).message.replace(file, 'model.json');
    }
    throw new Error('The file was accepted.');
  };
  const target = { endpoint: 'e', component: 'c' };
  const price = { version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 };
  const model = {
    name: 'm',
    context_length: 8_192,
    max_output_tokens: 4_096,
    default_output_tokens: 512,
    targets: [target],
    prices: [price],
  };

  test.each([
    ['the field that is missing', { ...model, context_length: undefined }, 'context_length is missing: expected a number.'],
    ['the bound of a number', { ...model, context_length: 0 }, 'context_length: expected at least 1.'],
    ['the values of a field', { ...model, task: 'paint' }, 'task must be generate, embed or rerank, not "paint".'],
  ])('is refused with %s if it is invalid', (_, file, expected) => {
    expect(refusalOf(file)).toBe(`Invalid input in model.json: ${expected}`);
  });

  test('has a line for each fault', () => {
    expect(refusalOf({ ...model, targets: [], prices: [{ ...price, prompt_nanos: 1.5 }] })).toBe(
      'Invalid input in model.json:\n- targets[0] is missing: expected an object.\n- prices[0].prompt_nanos: expected an integer.',
    );
  });
});

test.each([
  [['bootstrap'], '--email is missing.'],
  [['create-key', '--org', 'org_a', '--requests-per-minute', 'many'], '--requests-per-minute: expected a number.'],
  [['create-key', '--org', 'org_a', '--concurrency', '0.5'], '--concurrency: expected an integer.'],
  [['grant-credit', '--org', 'org_a'], '--dollars is missing.\n--reason is missing.'],
  [['create-key', '--org', 'org_a', '--models', 'a,'], '--models: expected at least 1 character.'],
  [['bootstrap', '--email', 'you'], 'Invalid input in --email: expected a valid email address.'],
  [
    ['register-tokenizer', '--tokenizer', 'tokenizer.json', '--task', 'paint'],
    'Invalid input in --task: expected generate, embed or rerank, not "paint".',
  ],
])('%j is refused with what the option expects', (args, expected) => {
  expect(() => readCommand(args, 0)).toThrow(expected);
});
