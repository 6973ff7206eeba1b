import { beforeAll, describe, expect, test } from '@jest/globals';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { interpret } from '../../../../infra/assembly/interpret.ts';
import type { LocalApp } from '../../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { synthesizeWith } from '../../../support/assembly/assembly.ts';
import { readTemplate, type StackName, templateOf } from '../../../support/assembly/templates.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SETTINGS = { canary: true, provisionedConcurrency: { inference: 3 }, slo: { availability: 95 } };
const HOSTS = ['serverless', 'ondemand'] as const;

let gradual: (stack: StackName) => Template;
let app: LocalApp;
beforeAll(async () => {
  await using folder = temporaryFolder();
  await synthesizeWith(SETTINGS, folder.path, { 'aws:cdk:bundling-stacks': [] });
  const templates = new Map(HOSTS.map((host) => [host as StackName, readTemplate(folder.path, host)]));
  gradual = (stack) => templates.get(stack) as Template;
  app = interpret(await readAssembly(folder.path));
});

const idsOf = (template: Template, type: string): string[] => Object.keys(template.findResources(type)).sort();
const streamedUris = (template: Template): string[] =>
  Object.values(template.findResources('AWS::ApiGateway::Method'))
    .filter(({ Properties }) => Properties.Integration.ResponseTransferMode === 'STREAM')
    .map(({ Properties }) => JSON.stringify(Properties.Integration.Uri));

describe.each(HOSTS)('with canary, the %s host', (host) => {
  test('calls the alias of inference for every stream, and may', () => {
    const template = gradual(host);
    const [alias = ''] = idsOf(template, 'AWS::Lambda::Alias');
    const uris = streamedUris(template);
    expect(uris.length).toBeGreaterThan(1);
    for (const uri of uris) expect(uri).toMatch(new RegExp(`"Ref":"${alias}"\\},"/response-streaming-invocations"`));
    const permissions = template.findResources('AWS::Lambda::Permission', { Properties: { FunctionName: { Ref: alias } } });
    expect(Object.keys(permissions)).toHaveLength(uris.length);
  });

  test('moves a tenth of the traffic first, and rolls back when an objective is missed', () => {
    const template = gradual(host);
    const [application] = idsOf(template, 'AWS::CodeDeploy::Application');
    const [group = ''] = idsOf(template, 'AWS::CodeDeploy::DeploymentGroup');
    template.hasResource('AWS::Lambda::Alias', {
      UpdatePolicy: { CodeDeployLambdaAliasUpdate: { ApplicationName: { Ref: application }, DeploymentGroupName: { Ref: group } } },
    });
    const { Properties } = template.findResources('AWS::CodeDeploy::DeploymentGroup')[group] ?? {};
    expect(Properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_FAILURE']) },
      AlarmConfiguration: { Enabled: true },
    });
    const alarms = Properties.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref).sort();
    expect(alarms).toEqual(idsOf(template, 'AWS::CloudWatch::Alarm'));
    expect(alarms).toHaveLength(2);
  });

  test('compares with a share of bad requests that the new version can reach by itself', () => {
    const thresholds = Object.values(gradual(host).findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties.Threshold);
    // Five times what the promise allows would be 25 % of all requests, and the new version gets 10 %.
    expect(thresholds).toEqual([5, 5]);
  });

  test('keeps the versions on which streams can still run', () => {
    gradual(host).hasResource('AWS::Lambda::Version', { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  test('deploys its API again, which would otherwise call the function without the alias', () => {
    const [deployment] = idsOf(gradual(host), 'AWS::ApiGateway::Deployment');
    expect(deployment).not.toBe(idsOf(templateOf(host), 'AWS::ApiGateway::Deployment')[0]);
  });

  test('keeps the logical ids of everything else, so nothing is replaced', () => {
    for (const type of ['AWS::Lambda::Function', 'AWS::ApiGateway::RestApi', 'AWS::Logs::LogGroup', 'AWS::IAM::Policy', 'AWS::SQS::Queue'])
      expect(idsOf(gradual(host), type)).toEqual(idsOf(templateOf(host), type));
  });
});

test('all other functions are replaced at once', () => {
  expect(idsOf(gradual('serverless'), 'AWS::Lambda::Alias')).toEqual([expect.stringMatching(/^InferenceLive/)]);
});

test('provisioned concurrency is of the alias, and of the functions that have a number', () => {
  const property = 'ProvisionedConcurrencyConfig';
  gradual('serverless').hasResourceProperties('AWS::Lambda::Alias', { [property]: { ProvisionedConcurrentExecutions: 3 } });
  gradual('ondemand').hasResourceProperties('AWS::Lambda::Alias', { [property]: Match.absent() });
});

test('more provisioned than reserved concurrency is rejected, which Lambda would do half-way', async () => {
  await using folder = temporaryFolder();
  const settings = { provisionedConcurrency: { inference: 11 }, reservedConcurrency: { inference: 10 } };
  const synthesizing = synthesizeWith(settings, folder.path, { 'aws:cdk:bundling-stacks': [] });
  await expect(synthesizing).rejects.toThrow('provisionedConcurrency.inference: expected at most 10');
});

test('without either setting, there is no alias and no deployment group', () => {
  for (const host of HOSTS)
    for (const type of ['AWS::Lambda::Alias', 'AWS::Lambda::Version', 'AWS::CodeDeploy::DeploymentGroup'])
      expect(idsOf(templateOf(host), type)).toEqual([]);
});

test('the local run serves the function of an alias', () => {
  const arnOf = (name: string) => app.functions.find(({ shortName }) => shortName === name)?.arn;
  for (const [stack, name] of [
    ['sluice-serverless', 'inference'],
    ['sluice-ondemand', 'ondemand-inference'],
  ]) {
    const streamed = app.apis.find(({ stackName }) => stackName === stack)?.routes.filter(({ transferMode }) => transferMode === 'STREAM');
    expect(new Set(streamed?.map(({ functionArn }) => functionArn))).toEqual(new Set([arnOf(name as string)]));
  }
});
