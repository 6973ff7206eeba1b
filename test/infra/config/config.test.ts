import { describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../infra/config/config.ts';
import { BillingStack } from '../../../infra/stacks/billing-stack.ts';
import { DataStack } from '../../../infra/stacks/data-stack.ts';
import { DeploymentsStack } from '../../../infra/stacks/deployments-stack.ts';
import { ServerlessStack } from '../../../infra/stacks/serverless-stack.ts';

const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/0f5c9b1e';

describe('the configuration', () => {
  test('releases by canary in the stage prod, unless it says otherwise', () => {
    expect(
      [undefined, { stage: 'dev' }, { stage: 'prod' }, { stage: 'prod', canary: false }, { canary: true }].map(
        (each) => readConfig(each).canary,
      ),
    ).toEqual([false, false, true, false, true]);
  });

  test('has a default for every field, and can be JSON from the command line', () => {
    expect(readConfig(undefined)).toMatchObject({
      name: 'sluice',
      endpointTag: 'sluice',
      logRetentionDays: 30,
      deployments: { hubModels: false, repositories: ['vllm', 'djl-inference', 'sglang-server'] },
    });
    expect(readConfig(undefined).reservedConcurrency).toBeUndefined();
    expect(readConfig({ reservedConcurrency: { inference: 10 } }).reservedConcurrency).toEqual({
      inference: 10,
      catalog: 30,
      metering: 5,
      rollup: 10,
      refusals: 5,
      payloads: 5,
      tokenizer: 120,
      control: 20,
      'sign-in': 15,
      'machine-sign-in': 6,
      'single-sign-on': 6,
      console: 8,
      deployments: 10,
      billing: 26,
      notifications: 10,
      'ondemand-inference': 200,
      'ondemand-catalog': 20,
    });
    expect(readConfig('{"alarmEmail":"ops@example.com"}').alarmEmail).toBe('ops@example.com');
  });

  test('has each option off by default', () => {
    const { stage, firewall, customerManagedKey, billBudget, hosts } = readConfig(undefined);
    expect({ stage, firewall, customerManagedKey, billBudget }).toEqual({ customerManagedKey: false });
    expect(readConfig(undefined).warmThroughput).toEqual({});
    expect(readConfig(undefined).runbookUrl).toBe('docs/runbook.md');
    for (const host of Object.values(hosts)) {
      expect(host.onlyDomain).toBe(false);
      expect(host).not.toHaveProperty('domain');
      expect(host).not.toHaveProperty('cloudFront');
    }
  });

  test('adds the stage to the name', () => {
    expect(readConfig({ stage: 'prod' }).name).toBe('sluice-prod');
    expect(readConfig({ name: 'ai', stage: 'dev' }).name).toBe('ai-dev');
  });

  test('rejects requests at the API’s own URL if a host has a domain, unless that is set', () => {
    const domain = { domain: 'api.example.com', certificateArn: CERTIFICATE };
    expect(readConfig({ hosts: { serverless: domain } }).hosts.serverless.onlyDomain).toBe(true);
    expect(readConfig({ hosts: { serverless: { ...domain, onlyDomain: false } } }).hosts.serverless.onlyDomain).toBe(false);
  });

  test('can give the serverless host the URL of the on-demand host', () => {
    // Bundles and CloudFormation's rules don't matter here, and are slow.
    const app = new App({ builtinCloudFormationValidation: false, context: { 'aws:cdk:bundling-stacks': [] } });
    const config = readConfig({ ondemandUrl: 'https://ondemand.example.com' });
    const data = new DataStack(app, 'data', {});
    const billing = new BillingStack(app, 'billing', { config, data });
    const deployments = new DeploymentsStack(app, 'deployments', { config, data, billing });
    const stack = new ServerlessStack(app, 'serverless', { config, data, deployments, billing });
    for (const SLUICE_FUNCTION of ['inference', 'catalog'])
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION, OTHER_HOST_URL: 'https://ondemand.example.com' }) },
      });
  });

  test('can let webhooks reach private networks', () => {
    const allowedNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fd00::/8'];
    expect(readConfig({ notifications: { allowedNetworks } }).notifications.allowedNetworks).toEqual(allowedNetworks);
  });

  test.each([
    { name: 'Not OK' },
    { logRetentionDays: 8 },
    { alarmEmail: 'nobody' },
    { ondemandUrl: 'http://ondemand.example.com' },
    { ondemandUrl: 'https://ondemand.example.com/' },
    { ondemandUrl: 'https://ondemand.example.com/v1' },
    { endpointRegions: ['mars'] },
    { hosts: { serverless: { domain: 'api.example.com' } } },
    { hosts: { serverless: { domain: 'API.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f5c9b1e' } } },
    { hosts: { serverless: { onlyDomain: true } } },
    { hosts: { serverless: { burst: 0 } } },
    { hosts: { serverless: { cloudFront: { certificateArn: CERTIFICATE } } } },
    {
      hosts: {
        serverless: {
          domain: 'api.example.com',
          certificateArn: CERTIFICATE,
          onlyDomain: false,
          cloudFront: { certificateArn: CERTIFICATE },
        },
      },
    },
    {
      hosts: {
        serverless: {
          domain: 'api.example.com',
          certificateArn: CERTIFICATE,
          cloudFront: { certificateArn: CERTIFICATE.replace('us-east-1', 'eu-west-1') },
        },
      },
    },
    { hosts: { control: { domain: 'control.example.com', certificateArn: CERTIFICATE, cloudFront: { certificateArn: CERTIFICATE } } } },
    { firewall: { requestsPerAddress: 10 } },
    { firewall: { rules: [] } },
    { stage: 'Prod' },
    { stage: 'production', name: 'a-name-of-16-chars' },
    { billBudget: { monthlyUsd: 500 } },
    { billBudget: { monthlyUsd: 0 }, alarmEmail: 'ops@example.com' },
    { customerManagedKey: 'alias/aws/s3' },
    { deployments: { repositories: ['vllm:latest'] } },
    { deployments: { maxHeldRequests: -1 } },
    { deployments: { maxHeldRequestsOfOrganization: -1 } },
    { billing: { taxFunctionArn: 'taxes' } },
    { billing: { stripeSecretArn: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:stripe' } },
    { notifications: { emailFrom: 'Billing <billing@example.com>' } },
    { notifications: { allowedNetworks: ['10.0.0.0'] } },
    ...['0.0.0.0/0', '127.0.0.1/32', '128.0.0.0/0', '169.254.169.254/32', '::/0', '::1/128', 'fe80::1/64'].map((network) => ({
      notifications: { allowedNetworks: [network] },
    })),
    { runbookUrl: 'https://wiki.example.com/operations#alarms' },
    { warmThroughput: { keys: { writesPerSecond: 100 } } },
    { warmThroughput: { audit: {} } },
    { warmThroughput: { keys: {} }, tables: { keys: { name: 'restored-keys' } } },
    { typo: true },
  ])('rejects %j and names the field', (value) => {
    expect(() => readConfig(value)).toThrow(Object.keys(value)[0] as string);
  });
});
