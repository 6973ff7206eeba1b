import { describe, expect, test } from '@jest/globals';
import { rejectKeptByNpm } from '../../../infra/tools/kept-by-npm.ts';

const options = {
  check: { type: 'boolean' },
  context: { type: 'string', short: 'c' },
  'month-budget': { type: 'string' },
  'no-content': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

// With the variables that npm 11 sets for a script.
const check = (variables: Record<string, string>, args: readonly string[] = []): void =>
  rejectKeptByNpm(options, args, { npm_lifecycle_event: 'deploy', ...variables });

describe('an option that npm has kept because -- was missing', () => {
  test.each([
    ['npm run deploy -c sluice={}', { npm_config_call: 'sluice={}' }, '-c'],
    ['npm run deploy --context=sluice={}', { npm_config_context: 'sluice={}' }, '--context'],
    ['npm run deploy --check', { npm_config_check: 'true' }, '--check'],
    ['npm run deploy --month-budget 5', { npm_config_month_budget: 'true' }, '--month-budget'],
    ['npm run deploy --no-content', { npm_config_content: '' }, '--no-content'],
  ])('is named after %s, with the command to write', (_, variables, flag) => {
    expect(() => check(variables)).toThrow(`npm has kept ${flag} for itself. Put -- before the options: npm run deploy -- ${flag} …`);
  });

  test('is named as an option of npm start, which needs no run', () => {
    expect(() => check({ npm_lifecycle_event: 'start', npm_config_check: 'true' })).toThrow('npm start -- --check …');
  });

  test('is not an option that the command got, although an outer npm has a variable of that name', () => {
    expect(() => check({ npm_config_check: 'true' }, ['--check'])).not.toThrow();
    expect(() => check({ npm_config_call: 'x' }, ['-csluice={}'])).not.toThrow();
    expect(() => check({ npm_config_month_budget: '5' }, ['--month-budget=5'])).not.toThrow();
  });

  test('is neither a setting of npm that an .npmrc can have, nor an empty one', () => {
    expect(() => check({ npm_config_yes: 'true', npm_config_check: '', npm_config_registry: 'https://npm.example.com' })).not.toThrow();
  });

  test('does not exist without npm run', () => {
    expect(() => rejectKeptByNpm(options, [], { npm_config_call: 'x' })).not.toThrow();
    expect(() => check({ npm_lifecycle_event: 'npx', npm_config_call: 'node x.ts' })).not.toThrow();
  });
});
