import { describe, expect, test } from '@jest/globals';
import { synthesize } from '../../../infra/assembly/synthesize.ts';
import { readConfig } from '../../../infra/config/config.ts';
import { options } from '../../support/assembly/every-option.ts';
import { isolatedEnvironment } from '../../support/assembly/isolated-environment.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = new URL('../../..', import.meta.url).pathname;

describe('a budget for the AWS bill', () => {
  test.each(['eu-north-1', 'ap-southeast-3', 'ca-west-1', 'us-gov-west-1'])(
    'is refused in %s, where CloudFormation can’t create it, with what to do instead',
    (region) => {
      const read = () => readConfig(options.billBudget, region);
      expect(read).toThrow(`CloudFormation can't create budgets in ${region}. Remove the setting; docs/options.md has the command`);
      expect(read).toThrow('billBudget: ');
      expect(readConfig({ alarmEmail: 'ops@example.com' }, region).billBudget).toBeUndefined();
    },
  );

  test.each(['us-east-1', 'eu-west-1', 'eu-central-1', 'ap-southeast-2', undefined])('is accepted in %s', (region) => {
    expect(readConfig(options.billBudget, region).billBudget).toEqual({ monthlyUsd: 500 });
  });

  test('is refused before anything is deployed, by the region that the CDK deploys to', async () => {
    await using folder = temporaryFolder();
    const environment = { ...isolatedEnvironment(folder.path), CDK_DEFAULT_REGION: 'eu-north-1' };
    await expect(
      synthesize(ROOT, folder.path, { environment, context: { sluice: options.billBudget, 'aws:cdk:bundling-stacks': [] } }),
    ).rejects.toThrow("can't create budgets in eu-north-1");
  });
});

test('CloudFront is refused in GovCloud, which has none', () => {
  expect(() => readConfig(options.cloudFront, 'us-gov-west-1')).toThrow(/hosts\.serverless\.cloudFront: .*no CloudFront in us-gov-west-1/);
  expect(readConfig(options.cloudFront, 'eu-west-1').hosts.serverless.cloudFront).toBeDefined();
  const inGovCloud = JSON.parse(JSON.stringify(options.domain).replaceAll('arn:aws:acm:eu-west-1', 'arn:aws-us-gov:acm:us-gov-west-1'));
  expect(readConfig(inGovCloud, 'us-gov-west-1').hosts.serverless.domain).toBe('api.example.com');
});

describe('what is in another region than the deployment', () => {
  const { domain, billing, telemetry, tables } = options;
  test.each<[string, object]>([
    ['hosts.serverless.certificateArn', domain],
    ['hosts.control.certificateArn', domain],
    ['billing.taxFunctionArn', billing],
    ['billing.stripeSecretArn', billing],
    ['telemetry.otlp[1].headersSecretArn', telemetry],
    ['tables.usage.streamArn', tables],
  ])('is refused before a deployment finds nothing there: %s', (path, settings) => {
    expect(() => readConfig(settings, 'us-east-1')).toThrow(
      `${path}: this is in eu-west-1, but the deployment is in us-east-1. Use one of us-east-1`,
    );
    expect(readConfig(settings, 'eu-west-1')).toEqual(readConfig(settings));
  });

  test('is accepted if it is the certificate of CloudFront', () => {
    const { hosts } = readConfig(options.cloudFront, 'eu-west-1');
    expect(hosts.serverless.cloudFront?.certificateArn).toContain(':us-east-1:');
  });
});
