import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';

const HOSTS = ['serverless', 'ondemand', 'control'] as const;
const gateway = templateOf('gateway');

describe('the gateway stack', () => {
  test('sets the role with which API Gateway writes logs, once for the account, and retains it', () => {
    const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
    const [[role, properties] = []] = Object.entries(gateway.findResources('AWS::IAM::Role'));
    expect(properties).toMatchObject(kept);
    gateway.hasResource('AWS::ApiGateway::Account', { ...kept, Properties: { CloudWatchRoleArn: { 'Fn::GetAtt': [role, 'Arn'] } } });
    for (const name of HOSTS) templateOf(name).resourceCountIs('AWS::ApiGateway::Account', 0);
  });

  test('is deployed before the hosts, whose stages need the role', () => {
    const { artifacts } = JSON.parse(readFileSync(path.join(assemblyDir(), 'manifest.json'), 'utf8'));
    for (const name of HOSTS) expect(artifacts[`sluice-${name}`].dependencies).toContain('sluice-gateway');
  });

  test('leaves the role alone if the account has one already', async () => {
    const templates = await templatesWith({ gatewayLogRole: false });
    for (const name of HOSTS) {
      templates(name).resourceCountIs('AWS::ApiGateway::Account', 0);
      templates(name).resourcePropertiesCountIs(
        'AWS::IAM::Role',
        { AssumeRolePolicyDocument: { Statement: [Match.objectLike({ Principal: { Service: 'apigateway.amazonaws.com' } })] } },
        0,
      );
    }
    expect(() => templates('gateway')).toThrow('There is no stack sluice-gateway.');
  });
});
