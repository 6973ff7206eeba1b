import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { options } from '../../support/assembly/every-option.ts';
import { isolatedEnvironment } from '../../support/assembly/isolated-environment.ts';
import { stackNames, templateOf, templatesWith } from '../../support/assembly/templates.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// Usually a few seconds; more on a machine that runs other tests.
const SYNTHESIS_MS = 180_000;

const ADDED = {
  firewall: ['AWS::WAFv2::WebACL', 'AWS::WAFv2::WebACLAssociation'],
  cloudFront: ['AWS::ApiGateway::BasePathMapping', 'AWS::ApiGateway::DomainName', 'AWS::CloudFront::Distribution'],
};

const typesOf = (template: Template): string[] =>
  Object.values(template.toJSON().Resources as Record<string, { Type: string }>).map(({ Type }) => Type);

describe('an option on its own', () => {
  const before = new Set(stackNames.flatMap((stack) => typesOf(templateOf(stack))));

  test.each(['firewall', 'cloudFront'] as const)(
    '%s adds its resources and nothing else',
    async (name) => {
      const templates = await templatesWith({ ...options[name], ...options.billBudget });
      const after = new Set(stackNames.flatMap((stack) => typesOf(templates(stack))));
      const added = [...after].filter((type) => !before.has(type)).sort();
      expect(added).toEqual([...ADDED[name], 'AWS::Budgets::Budget', 'AWS::SNS::Subscription'].sort());
      expect([...before].filter((type) => !after.has(type))).toEqual([]);
    },
    SYNTHESIS_MS,
  );

  test('is in no template by default', () => {
    for (const type of [...Object.values(ADDED).flat(), 'AWS::Budgets::Budget', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret'])
      expect({ type, isThere: before.has(type) }).toEqual({ type, isThere: false });
  });
});

describe('the environment in which these tests synthesize', () => {
  test.each([
    ["fetch('http://127.0.0.1:1')", 'an HTTP request'],
    ["import('node:https').then(({ get }) => get('https://127.0.0.1:1'))", 'an HTTPS request'],
    ["import('node:net').then(({ connect }) => connect(1))", 'a socket'],
    ["import('node:dns/promises').then(({ lookup }) => lookup('example.com'))", 'a name'],
  ])('ends a program that runs %s', async (program) => {
    await using home = temporaryFolder();
    const swallowed = `Promise.resolve().then(() => ${program}).catch(() => undefined).then(() => process.exit(0))`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', swallowed], { env: isolatedEnvironment(home.path), encoding: 'utf8' });
    expect(stderr).toContain('The network is denied');
    expect(status).toBeGreaterThan(0);
  });

  test('has no credentials and no region', async () => {
    await using home = temporaryFolder();
    expect(Object.keys(isolatedEnvironment(home.path)).sort()).toEqual(['HOME', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'PATH']);
  });
});
