import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readConfig, settingsOf } from '../../../../infra/config/config.ts';
import { flagsOfSettings, readCommandLine, UnknownContext } from '../../../../infra/tools/deploy/command-line.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const file = path.join(folder.path, 'cdk.json');
beforeAll(() =>
  writeFileSync(file, JSON.stringify({ app: 'node app.ts', context: { sluice: { name: 'from-file' }, 'cli-telemetry': false } })),
);
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

const nameIn = (...flags: string[]) => readConfig(readCommandLine(flags, file).context).name;

describe('the command line of a deployment', () => {
  test('has the settings of cdk.json, unless the flags have some', () => {
    expect(nameIn()).toBe('from-file');
    expect(nameIn('-c', 'cli-telemetry=1', '-c', '@aws-cdk/core:bootstrapQualifier=q', '--verbose', '--concurrency', '4')).toBe(
      'from-file',
    );
    for (const flags of [
      ['-c', 'sluice={"name":"a"}'],
      ['-csluice={"name":"a"}'],
      ['--context', 'sluice={"name":"a"}'],
      ['--context=sluice={"name":"a"}'],
    ])
      expect(nameIn(...flags)).toBe('a');
    expect(nameIn('-c', 'sluice={"name":"a"}', ...flagsOfSettings({ name: 'b' }))).toBe('b');
  });

  test('keeps settings that contain an equals sign', () => {
    const settings = { ondemandUrl: 'https://a.example.com/?x=1' };
    expect(settingsOf(readCommandLine(flagsOfSettings(settings), file).context)).toEqual(settings);
  });

  test.each(['name=sluice-test', 'Sluice={"name":"a"}', 'sluce={"name":"a"}', 'name'])(
    'is refused with the context %s, which nothing reads',
    (context) => {
      expect(() => readCommandLine(['--context', context], file)).toThrow(UnknownContext);
      expect(() => readCommandLine(['-c', 'sluice={"name":"a"}', `-c${context}`], file)).toThrow(`context '${context.split('=')[0]}'`);
    },
  );

  test('says whether the CDK has to ask', () => {
    const isApproved = (...flags: string[]) => readCommandLine(flags, file).isApproved;
    for (const flags of [['--require-approval', 'never'], ['--require-approval=never'], ['--yes'], ['-y']])
      expect(isApproved(...flags)).toBe(true);
    for (const flags of [[], ['--require-approval', 'broadening'], ['-c', 'cli-telemetry=--yes']]) expect(isApproved(...flags)).toBe(false);
  });

  test('has the profile', () => {
    expect(readCommandLine(['--profile', 'production'], file).profile).toBe('production');
    expect(readCommandLine([], file).profile).toBeUndefined();
  });
});
