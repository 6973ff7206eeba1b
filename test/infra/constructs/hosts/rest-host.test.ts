import { beforeAll, describe, expect, test } from '@jest/globals';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { type StackName, templateOf, templatesWith } from '../../../support/assembly/templates.ts';

const HOSTS = ['serverless', 'ondemand', 'control'] as const;
const SECURITY_POLICY = 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09';
const ARN = 'arn:aws:acm:us-east-1:123456789012:certificate/0f5c9b1e-0000-4000-8000-000000000000';

// Variables of the access log that contain text of callers.
const WRITTEN_BY_CALLERS = /userAgent|\.path$|domain|requestOverride|customDomain/;

// AWS's default quotas of an account.
const ACCOUNT = { rate: 10_000, burst: 5_000 };

const stageOf = (host: Template) => {
  const [stage] = Object.values(host.findResources('AWS::ApiGateway::Stage'));
  return stage?.Properties;
};

describe.each(HOSTS)('the %s host', (name) => {
  const host = templateOf(name);

  test('accepts TLS 1.2 and newer only', () => {
    host.hasResourceProperties('AWS::ApiGateway::RestApi', { SecurityPolicy: SECURITY_POLICY, EndpointAccessMode: 'BASIC' });
  });

  test('has no detailed metrics, which cost money for every route', () => {
    for (const settings of stageOf(host).MethodSettings) expect(settings.MetricsEnabled).toBe(false);
  });

  test('has no execution logs, which would never expire', () => {
    for (const settings of stageOf(host).MethodSettings) expect(settings).toMatchObject({ LoggingLevel: 'OFF', DataTraceEnabled: false });
  });

  test('writes a line of JSON for each access, whatever the caller sends', () => {
    const line = String(stageOf(host).AccessLogSetting.Format).replaceAll(/\$context\.[\w.]+/g, (variable) =>
      WRITTEN_BY_CALLERS.test(variable) ? 'curl/8 "quoted" \\' : 'value',
    );
    expect(() => JSON.parse(line)).not.toThrow();
  });

  test('answers at its own URL only', () => {
    host.resourceCountIs('AWS::ApiGateway::BasePathMapping', 0);
    host.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: false });
  });
});

test('all hosts together leave a quarter of the account’s limits', () => {
  const all = HOSTS.flatMap((name) => stageOf(templateOf(name)).MethodSettings);
  expect(all).toEqual(HOSTS.map(() => expect.objectContaining({ HttpMethod: '*', ResourcePath: '/*' })));
  const sum = (field: string) => all.reduce((total, settings) => total + settings[field], 0);
  expect(sum('ThrottlingRateLimit')).toBeLessThanOrEqual(0.75 * ACCOUNT.rate);
  expect(sum('ThrottlingBurstLimit')).toBeLessThanOrEqual(0.75 * ACCOUNT.burst);
});

describe('with settings for each host', () => {
  let templates: (stack: StackName) => Template;
  beforeAll(async () => {
    templates = await templatesWith({
      detailedMetrics: true,
      hosts: {
        serverless: { domain: 'api.example.com', certificateArn: ARN, requestsPerSecond: 300, burst: 60 },
        ondemand: { domain: 'ondemand.example.com', certificateArn: ARN, onlyDomain: false },
        control: { requestsPerSecond: 10 },
      },
    });
  });

  test('a host answers at its domain, and only there unless it is set otherwise', () => {
    for (const [name, domain, isOnly] of [
      ['serverless', 'api.example.com', true],
      ['ondemand', 'ondemand.example.com', false],
    ] as const) {
      const [[api] = []] = Object.entries(templates(name).findResources('AWS::ApiGateway::RestApi'));
      templates(name).hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: isOnly });
      templates(name).hasResourceProperties('AWS::ApiGateway::BasePathMapping', {
        DomainName: domain,
        BasePath: Match.absent(),
        RestApiId: { Ref: api },
        Stage: { Ref: Match.stringLikeRegexp('^HostApi.*live') },
      });
    }
    templates('control').resourceCountIs('AWS::ApiGateway::BasePathMapping', 0);
  });

  test('the outputs and the other host name the domain', () => {
    templates('serverless').hasOutput('BaseUrl', { Value: 'https://api.example.com/v1' });
    templates('ondemand').hasOutput('OndemandUrl', { Value: 'https://ondemand.example.com/v1' });
    for (const [name, OTHER_HOST_URL] of [
      ['serverless', 'https://ondemand.example.com'],
      ['ondemand', 'https://api.example.com'],
    ] as const)
      templates(name).hasResourceProperties('AWS::Lambda::Function', { Environment: { Variables: Match.objectLike({ OTHER_HOST_URL }) } });
  });

  test('its domain outlives the host, accepts TLS 1.2 and newer only, and has outputs for the DNS record', () => {
    const gateway = templates('gateway');
    gateway.resourceCountIs('AWS::ApiGateway::DomainName', 2);
    for (const DomainName of ['api.example.com', 'ondemand.example.com'])
      gateway.hasResourceProperties('AWS::ApiGateway::DomainName', {
        DomainName,
        RegionalCertificateArn: ARN,
        EndpointConfiguration: { Types: ['REGIONAL'] },
        SecurityPolicy: SECURITY_POLICY,
        EndpointAccessMode: 'BASIC',
      });
    for (const name of ['Serverless', 'Ondemand'])
      gateway.hasOutput(`${name}DomainTarget`, {
        Value: { 'Fn::GetAtt': [Match.stringLikeRegexp(`^${name}Domain`), 'RegionalDomainName'] },
      });
  });

  test('throttles each host by its own settings', () => {
    expect(stageOf(templates('serverless')).MethodSettings).toEqual([
      expect.objectContaining({ HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 300, ThrottlingBurstLimit: 60 }),
    ]);
    expect(stageOf(templates('control')).MethodSettings[0]).toMatchObject({ ThrottlingRateLimit: 10, ThrottlingBurstLimit: 250 });
  });

  test('has detailed metrics', () => {
    for (const name of HOSTS) expect(stageOf(templates(name)).MethodSettings[0]).toMatchObject({ MetricsEnabled: true });
  });
});
