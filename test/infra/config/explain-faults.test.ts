import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../infra/config/config.ts';

const HOST = { domain: 'api.example.com', certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0f5c9b1e' };
const PREFIX = "Invalid settings in the CDK context 'sluice': ";

describe('readConfig', () => {
  test.each([
    ['suggests the nearest setting', { alarmEmial: 'ops@example.com' }, 'alarmEmial is not a setting. Did you mean alarmEmail?'],
    [
      'suggests the nearest setting of a host',
      { hosts: { serverless: { brust: 3 } } },
      /brust is not a setting\. Did you mean hosts\.serverless\.burst\?$/,
    ],
    [
      'suggests the nearest setting of a list',
      { telemetry: { otlp: [{ metrics: 'https://o.example.com', trace: '' }] } },
      /otlp\[0\]\.traces\?$/,
    ],
    [
      'suggests the nearest table',
      { tables: { useage: { name: 'restored' } } },
      'tables.useage is not a setting. Did you mean tables.usage?',
    ],
    [
      'lists the settings if none is near',
      { auditCopies: { days: 7, frequency: 1 } },
      'auditCopies.frequency is not a setting. Use days or mode.',
    ],
    [
      'says what replaces a setting of an earlier release',
      { structuredOutputs: true },
      'structuredOutputs was removed. Set capabilities.structured_outputs of each model instead (docs/publish-models.md).',
    ],
    [
      'says why a setting of an earlier release is gone',
      { selfSignUp: false },
      'selfSignUp was removed. It let strangers into the user pool, where they could not log in. Invite users instead (docs/control-plane.md).',
    ],
    ['lists all settings if none is near', { foo: true }, /^.*foo is not a setting\. Use name, stage, .* or commit\.$/],
    ['lists the allowed texts', { requestClient: 'sdkk' }, 'requestClient must be direct or sdk, not "sdkk".'],
    ['lists the allowed numbers', { logRetentionDays: 31 }, 'logRetentionDays must be 7, 30, 90 or 365, not 31.'],
    ['lists the values of a switch', { canary: 'yes' }, 'canary must be true or false, not "yes".'],
    ['says which number is the least', { organizationConcurrency: 0 }, 'organizationConcurrency: expected at least 1.'],
    [
      'says what the rules between settings expect',
      { billBudget: { monthlyUsd: 5 } },
      'billBudget: expected alarmEmail, which gets the emails.',
    ],
    [
      'says which host has the domain of another one',
      { hosts: { serverless: HOST, control: HOST } },
      'hosts.control.domain: expected another domain than that of hosts.serverless: each host needs its own.',
    ],
    [
      'says how many of its environments a function can keep started',
      { reservedConcurrency: { inference: 50 }, provisionedConcurrency: { inference: 51 } },
      'provisionedConcurrency.inference: expected at most 50, which reservedConcurrency.inference reserves. Lower it, or reserve more.',
    ],
    ['names a region', { endpointRegions: ['mars'] }, 'endpointRegions[0]: expected a region such as eu-west-1.'],
    ['asks for an integer', { organizationConcurrency: 1.5 }, 'organizationConcurrency: expected an integer.'],
    ['asks for an item', { deployments: { repositories: [] } }, 'deployments.repositories: expected at least 1 item.'],
    ['says where the JSON of the command line breaks', '{bad', /^.*They are not JSON: .*position 1/],
  ])('%s', (_, settings, expected) => {
    const message = typeof expected === 'string' ? `${PREFIX}${expected}` : expect.stringMatching(expected);
    expect(() => readConfig(settings)).toThrow(expect.objectContaining({ name: 'InvalidConfig', message }));
  });

  test('has a line for each fault', () => {
    expect(() => readConfig({ alarmEmail: 'x', canary: 1 })).toThrow(
      `${PREFIX}\n- canary must be true or false, not 1.\n- alarmEmail: expected a valid email address.`,
    );
  });
});

describe('infra/app.ts', () => {
  test('prints one line about an unknown setting, and no stack', () => {
    const context = JSON.stringify({ sluice: { alarmEmial: 'ops@example.com' } });
    const { status, stderr, stdout } = spawnSync(process.execPath, [path.join(import.meta.dirname, '../../../infra/app.ts')], {
      env: { ...process.env, CDK_CONTEXT_JSON: context },
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([1, '', `${PREFIX}alarmEmial is not a setting. Did you mean alarmEmail?\n`]);
  });
});
