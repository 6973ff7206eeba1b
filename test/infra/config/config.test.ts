import { describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../infra/config/config.ts';
import { BillingStack } from '../../../infra/stacks/billing-stack.ts';
import { DataStack } from '../../../infra/stacks/data-stack.ts';
import { DeploymentsStack } from '../../../infra/stacks/deployments-stack.ts';
import { ServerlessStack } from '../../../infra/stacks/serverless-stack.ts';

describe('the configuration', () => {
  test('has a default for every field, and can be JSON from the command line', () => {
    expect(readConfig(undefined)).toMatchObject({
      name: 'sluice',
      endpointTag: 'sluice',
      logRetentionDays: 30,
      structuredOutputs: false,
      selfSignUp: false,
      deployments: { hubModels: false, maxHeldRequests: 50, repositories: ['vllm', 'djl-inference', 'sglang-server'] },
    });
    expect(readConfig(undefined).reservedConcurrency).toBeUndefined();
    expect(readConfig({ reservedConcurrency: { inference: 10 } }).reservedConcurrency).toEqual({
      inference: 10,
      catalog: 50,
      metering: 5,
      rollup: 10,
      refusals: 5,
      tokenizer: 100,
      control: 20,
      deployments: 10,
      billing: 10,
      notifications: 10,
      'ondemand-inference': 200,
      'ondemand-catalog': 20,
    });
    expect(readConfig('{"alarmEmail":"ops@example.com"}').alarmEmail).toBe('ops@example.com');
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

  test.each([
    { name: 'Not OK' },
    { logRetentionDays: 8 },
    { alarmEmail: 'nobody' },
    { ondemandUrl: 'http://ondemand.example.com' },
    { ondemandUrl: 'https://ondemand.example.com/' },
    { hosts: { serverless: { domain: 'api.example.com' } } },
    { hosts: { serverless: { domain: 'API.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f5c9b1e' } } },
    { hosts: { serverless: { onlyDomain: true } } },
    { hosts: { serverless: { burst: 0 } } },
    { deployments: { repositories: ['vllm:latest'] } },
    { deployments: { maxHeldRequests: -1 } },
    { billing: { taxFunctionArn: 'taxes' } },
    { billing: { stripeSecretArn: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:stripe' } },
    { notifications: { emailFrom: 'Billing <billing@example.com>' } },
    { notifications: { allowedNetworks: ['10.0.0.0'] } },
    { typo: true },
  ])('rejects %j and names the field', (value) => {
    expect(() => readConfig(value)).toThrow(Object.keys(value)[0] as string);
  });
});
