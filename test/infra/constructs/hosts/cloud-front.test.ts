import { isIP } from 'node:net';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { CachePolicy, OriginRequestPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { readConfig } from '../../../../infra/config/config.ts';
import { GatewayStack } from '../../../../infra/stacks/gateway-stack.ts';
import { inferenceHostRoutes } from '../../../../shared/hosts/inference-routes.ts';
import { networkOf } from '../../../../shared/identity/network-of.ts';
import { options } from '../../../support/assembly/every-option.ts';

interface Behavior {
  PathPattern?: string;
  CachePolicyId: string;
  OriginRequestPolicyId: string;
  Compress: boolean;
  AllowedMethods: string[];
  FunctionAssociations?: object[];
}

const gatewayOf = (settings: object): Template => {
  const app = new App({ builtinCloudFormationValidation: false });
  return Template.fromStack(new GatewayStack(app, 'gateway', { config: readConfig(settings) }));
};

const DOMAINS = { serverless: 'api.example.com', ondemand: 'ondemand.example.com' };

const distributionOf = (gateway: Template, host: keyof typeof DOMAINS) => {
  const [found] = Object.values(gateway.findResources('AWS::CloudFront::Distribution')).filter(({ Properties }) =>
    Properties.DistributionConfig.Aliases.includes(DOMAINS[host]),
  );
  return found?.Properties.DistributionConfig;
};

const toPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);

const behaviorOf = (gateway: Template, host: keyof typeof DOMAINS, path: string): Behavior => {
  const { CacheBehaviors, DefaultCacheBehavior } = distributionOf(gateway, host);
  return CacheBehaviors.find(({ PathPattern = '' }: Behavior) => toPattern(PathPattern).test(path)) ?? DefaultCacheBehavior;
};

const isCached = (gateway: Template, host: keyof typeof DOMAINS, path: string): boolean =>
  behaviorOf(gateway, host, path).CachePolicyId !== CachePolicy.CACHING_DISABLED.cachePolicyId;

const gateway = gatewayOf(options.cloudFront);
const HOSTS = ['serverless', 'ondemand'] as const;

describe('without the option', () => {
  test('a domain has no distribution', () => {
    gatewayOf(options.domain).resourceCountIs('AWS::CloudFront::Distribution', 0);
  });
});

describe.each(HOSTS)('CloudFront in front of the %s host', (host) => {
  const paths = Object.values(inferenceHostRoutes).map(({ path }) => path.replace(/\{model\+\}/, 'qwen/qwen3').replace('{id}', 'resp_1'));

  test('serves its domain from the same domain in API Gateway, over TLS 1.2 and newer only', () => {
    const { Origins, ViewerCertificate } = distributionOf(gateway, host);
    expect(Origins).toEqual([
      expect.objectContaining({
        DomainName: { 'Fn::GetAtt': [expect.stringMatching(/^(Serverless|Ondemand)Domain/), 'RegionalDomainName'] },
        CustomOriginConfig: expect.objectContaining({ OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] }),
      }),
    ]);
    expect(ViewerCertificate).toMatchObject({
      AcmCertificateArn: expect.stringContaining(':acm:us-east-1:'),
      MinimumProtocolVersion: 'TLSv1.2_2021',
    });
    gateway.hasOutput(`${host === 'serverless' ? 'Serverless' : 'Ondemand'}CloudFrontTarget`, {
      Value: { 'Fn::GetAtt': [Match.stringLikeRegexp('Distribution'), 'DomainName'] },
    });
  });

  test("waits longer for a packet than a stream's comments need, and neither caches nor compresses streams", () => {
    expect(distributionOf(gateway, host).Origins[0].CustomOriginConfig.OriginReadTimeout).toBe(120);
    expect(distributionOf(gateway, host).Origins[0]).not.toHaveProperty('ResponseCompletionTimeout');
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']) {
      const behavior = behaviorOf(gateway, host, path);
      expect(behavior).toMatchObject({ CachePolicyId: CachePolicy.CACHING_DISABLED.cachePolicyId, Compress: false });
      expect(behavior.OriginRequestPolicyId).toBe(OriginRequestPolicy.ALL_VIEWER.originRequestPolicyId);
      expect(behavior.AllowedMethods).toEqual(expect.arrayContaining(['POST', 'DELETE', 'OPTIONS']));
    }
  });

  test('caches what is the same for all callers only, without passing on their keys', () => {
    const cached = paths.filter((path) => isCached(gateway, host, path));
    expect(cached).toEqual(host === 'serverless' ? ['/v1/models', '/v1/models/qwen/qwen3'] : []);
    for (const path of [...cached, '/openapi.json', '/docs', '/docs/viewer.1a2b.js']) {
      expect({ path, isCached: isCached(gateway, host, path) }).toEqual({ path, isCached: true });
      expect(behaviorOf(gateway, host, path)).toMatchObject({
        CachePolicyId: CachePolicy.USE_ORIGIN_CACHE_CONTROL_HEADERS.cachePolicyId,
        OriginRequestPolicyId: OriginRequestPolicy.HOST_HEADER_ONLY.originRequestPolicyId,
        Compress: false,
      });
    }
    for (const path of ['/health', '/version', '/v1/key', '/v1/responses/resp_1', '/nothing'])
      expect({ path, isCached: isCached(gateway, host, path) }).toEqual({ path, isCached: false });
  });

  test('caches no error', () => {
    const errors: { ErrorCode: number; ErrorCachingMinTTL: number }[] = distributionOf(gateway, host).CustomErrorResponses;
    expect(errors.map(({ ErrorCode }) => ErrorCode)).toEqual(expect.arrayContaining([400, 404, 500, 503, 504]));
    for (const { ErrorCachingMinTTL } of errors) expect(ErrorCachingMinTTL).toBe(0);
  });

  test('needs no secret without a firewall', () => {
    expect(distributionOf(gateway, host).Origins[0]).not.toHaveProperty('OriginCustomHeaders');
    gateway.resourceCountIs('AWS::SecretsManager::Secret', 0);
    gateway.resourceCountIs('AWS::CloudFront::Function', 0);
  });
});

describe('with a firewall', () => {
  const protectedGateway = gatewayOf({ ...options.cloudFront, ...options.firewall });

  test.each(HOSTS)('proves to the firewall of the %s host that it sent a request', (host) => {
    const [[id] = []] = Object.entries(protectedGateway.findResources('AWS::SecretsManager::Secret')).filter(
      ([, { Properties }]) => Properties.Name === `sluice/cloudfront/${host}`,
    );
    expect(distributionOf(protectedGateway, host).Origins[0].OriginCustomHeaders).toEqual([
      {
        HeaderName: 'x-sluice-cloudfront',
        HeaderValue: { 'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: id }, ':SecretString:::}}']] },
      },
    ]);
  });

  test('makes a new secret for another number, in place of the earlier one', () => {
    const { serverless } = options.cloudFront.hosts;
    const hosts = { serverless: { ...serverless, cloudFront: { ...serverless.cloudFront, secret: 2 } } };
    const before = Object.keys(gatewayOf({ ...options.firewall, hosts: { serverless } }).findResources('AWS::SecretsManager::Secret'));
    const after = gatewayOf({ ...options.firewall, hosts });
    const [[id, secret] = [], ...others] = Object.entries(after.findResources('AWS::SecretsManager::Secret'));
    expect({ others, name: secret?.Properties.Name }).toEqual({ others: [], name: 'sluice/cloudfront/serverless/2' });
    expect(before).not.toContain(id);
    expect(JSON.stringify(distributionOf(after, 'serverless').Origins[0].OriginCustomHeaders)).toContain(`{"Ref":"${id}"}`);
  });

  test.each(HOSTS)('tells the firewall of the %s host the address of each caller, also for what can be cached', (host) => {
    const policies = protectedGateway.findResources('AWS::CloudFront::OriginRequestPolicy');
    for (const path of ['/v1/chat/completions', '/v1/models', '/docs', '/openapi.json']) {
      const { OriginRequestPolicyId: policy } = behaviorOf(protectedGateway, host, path) as { OriginRequestPolicyId: unknown };
      if (policy === OriginRequestPolicy.ALL_VIEWER.originRequestPolicyId) continue;
      const { HeadersConfig } = policies[(policy as { Ref: string }).Ref]?.Properties.OriginRequestPolicyConfig ?? {};
      expect({ path, HeadersConfig }).toEqual({
        path,
        HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['host', 'x-sluice-viewer-address'] },
      });
    }
  });

  test.each([
    '2001:db8:85a3:8d3:1319:8a2e:370:7348',
    '2001:0db8:85a3:0812:0000:0000:0000:0001',
    '2001:db8::1',
    '2001:db8:1::2:3:4:5',
    '2001:db8:85a3:8d3::',
    '::5:6:7:8:9',
    '198.51.100.7',
  ])('tells the firewall the network of %s, in which its holder can choose any address', (ip) => {
    const [{ Properties } = { Properties: {} }] = Object.values(protectedGateway.findResources('AWS::CloudFront::Function'));
    const request = runInNewContext(`${Properties.FunctionCode}\nhandler(event)`, { event: { viewer: { ip }, request: { headers: {} } } });
    const { value } = request.headers['x-sluice-viewer-address'];
    expect(isIP(value)).toBe(isIP(ip));
    expect(`${value.replace(/\b0+(?=\w)/g, '')}${isIP(ip) === 6 ? '/56' : ''}`).toBe(networkOf(ip));
  });

  test('replaces whatever address a caller claims by its own, for every path', () => {
    const functions = Object.values(protectedGateway.findResources('AWS::CloudFront::Function'));
    expect(functions).toHaveLength(HOSTS.length);
    for (const { Properties } of functions) {
      const event = { viewer: { ip: '203.0.113.9' }, request: { headers: { 'x-sluice-viewer-address': { value: '198.51.100.1' } } } };
      const request = runInNewContext(`${Properties.FunctionCode}\nhandler(event)`, { event });
      expect(request.headers['x-sluice-viewer-address']).toEqual({ value: '203.0.113.9' });
    }
    for (const host of HOSTS) {
      const { CacheBehaviors, DefaultCacheBehavior } = distributionOf(protectedGateway, host);
      for (const { FunctionAssociations } of [...CacheBehaviors, DefaultCacheBehavior])
        expect(FunctionAssociations).toEqual([expect.objectContaining({ EventType: 'viewer-request' })]);
    }
  });
});
