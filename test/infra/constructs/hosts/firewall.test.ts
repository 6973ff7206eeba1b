import { describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../../infra/config/config.ts';
import { Firewall } from '../../../../infra/constructs/hosts/firewall.ts';
import { options } from '../../../support/assembly/every-option.ts';

const STAGE = 'arn:aws:apigateway:eu-west-1::/restapis/api/stages/live';
const PROMPTS = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens'];

interface Rule {
  Name: string;
  Priority: number;
  Action?: object;
  Statement: {
    RateBasedStatement?: { Limit: number };
    ManagedRuleGroupStatement?: { RuleActionOverrides?: { Name: string; ActionToUse: object }[]; ScopeDownStatement?: object };
  };
}

const firewallOf = (settings: object, name: 'serverless' | 'control' = 'serverless', prompts: readonly string[] = PROMPTS): Template => {
  const stack = new Stack(new App({ builtinCloudFormationValidation: false }), 'test');
  new Firewall(stack, 'Firewall', { config: readConfig(settings), name, stageArn: STAGE, prompts });
  return Template.fromStack(stack);
};

const aclOf = (template: Template) => {
  const [acl] = Object.values(template.findResources('AWS::WAFv2::WebACL'));
  return acl?.Properties;
};
const rulesOf = (template: Template): Rule[] => aclOf(template).Rules;
const ruleOf = (template: Template, name: string): Rule => {
  const rule = rulesOf(template).find(({ Name }) => Name === name);
  if (!rule) throw new Error(`There is no rule ${name}.`);
  return rule;
};

const MANAGED = ['AWSManagedRulesCommonRuleSet', 'AWSManagedRulesKnownBadInputsRuleSet'];

describe('the firewall of a host', () => {
  const firewall = firewallOf(options.firewall);

  test('protects the stage of its API, and so the API’s own URL as well', () => {
    expect(aclOf(firewall).Scope).toBe('REGIONAL');
    firewall.hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
      ResourceArn: STAGE,
      WebACLArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^FirewallAcl'), 'Arn'] },
    });
  });

  test('has AWS’s managed rules and a limit for each address, in this order', () => {
    expect(rulesOf(firewall).map(({ Name, Priority }) => [Priority, Name])).toEqual([
      [0, 'AWSManagedRulesAmazonIpReputationList'],
      [1, 'RequestsPerAddress'],
      [2, 'AWSManagedRulesCommonRuleSet'],
      [3, 'AWSManagedRulesKnownBadInputsRuleSet'],
    ]);
  });

  test.each(MANAGED)('%s does not look at requests with prompts', (name) => {
    const scope = ruleOf(firewall, name).Statement.ManagedRuleGroupStatement?.ScopeDownStatement;
    const matched = (path: string) => ({
      ByteMatchStatement: expect.objectContaining({ FieldToMatch: { UriPath: {} }, PositionalConstraint: 'ENDS_WITH', SearchString: path }),
    });
    expect(scope).toEqual({ NotStatement: { Statement: { OrStatement: { Statements: PROMPTS.map(matched) } } } });
  });

  test.each(MANAGED)('%s only counts what it finds in other bodies', (name) => {
    const overrides = ruleOf(firewall, name).Statement.ManagedRuleGroupStatement?.RuleActionOverrides ?? [];
    const bodies = overrides.filter(({ Name }) => Name.endsWith('_BODY'));
    expect(bodies.length).toBeGreaterThanOrEqual(3);
    for (const { ActionToUse } of overrides) expect(ActionToUse).toEqual({ Count: {} });
  });

  const counted = (): string[] => {
    const { RuleActionOverrides = [] } = ruleOf(firewall, 'AWSManagedRulesCommonRuleSet').Statement.ManagedRuleGroupStatement ?? {};
    return RuleActionOverrides.map(({ Name }) => Name);
  };

  test('counts bodies over 8 KB, and requests without a user agent', () => {
    expect(counted()).toEqual(expect.arrayContaining(['SizeRestrictions_BODY', 'NoUserAgent_HEADER']));
  });

  test('lets a callback of single sign-on through whose code is over 2 KB, as those of Microsoft Entra are', () => {
    expect(counted()).toContain('SizeRestrictions_QUERYSTRING');
  });

  test('blocks an address far above what an office of two hundred developers sends, and as its setting says', () => {
    const { Statement, Action } = ruleOf(firewall, 'RequestsPerAddress');
    expect(Action).toEqual({ Block: {} });
    expect(Statement.RateBasedStatement).toEqual({ Limit: 60_000, EvaluationWindowSec: 300, AggregateKeyType: 'IP' });
    expect(Statement.RateBasedStatement?.Limit).toBeGreaterThanOrEqual(200 * 300);
    const own = firewallOf({ firewall: { requestsPerAddress: 5_000 } });
    expect(ruleOf(own, 'RequestsPerAddress').Statement.RateBasedStatement?.Limit).toBe(5_000);
  });

  test('keeps no samples of requests, which would have API keys', () => {
    const settings = [aclOf(firewall), ...rulesOf(firewall)].map(({ VisibilityConfig }) => VisibilityConfig.SampledRequestsEnabled);
    expect(new Set(settings)).toEqual(new Set([false]));
    firewall.resourceCountIs('AWS::WAFv2::LoggingConfiguration', 0);
  });

  test('inspects all paths of a host without prompts', () => {
    const control = firewallOf(options.firewall, 'control', []);
    for (const name of MANAGED) expect(ruleOf(control, name).Statement.ManagedRuleGroupStatement).not.toHaveProperty('ScopeDownStatement');
  });

  test('excludes a single path without an OR, which needs two', () => {
    const one = ruleOf(firewallOf(options.firewall, 'serverless', ['/v1/responses']), 'AWSManagedRulesCommonRuleSet');
    expect(one.Statement.ManagedRuleGroupStatement?.ScopeDownStatement).toEqual({
      NotStatement: { Statement: { ByteMatchStatement: expect.objectContaining({ SearchString: '/v1/responses' }) } },
    });
  });
});

describe('the firewall of a host behind CloudFront', () => {
  const firewall = firewallOf({ ...options.firewall, ...options.cloudFront });

  test('first blocks what did not come from CloudFront', () => {
    const rule = ruleOf(firewall, 'OnlyCloudFront');
    expect(rule).toMatchObject({
      Priority: 0,
      Action: { Block: {} },
      Statement: {
        NotStatement: {
          Statement: {
            ByteMatchStatement: {
              FieldToMatch: { SingleHeader: { Name: 'x-sluice-cloudfront' } },
              PositionalConstraint: 'EXACTLY',
              SearchString: '{{resolve:secretsmanager:sluice/cloudfront/serverless:SecretString:::}}',
            },
          },
        },
      },
    });
  });

  test('lets callers through with any record or secret while CloudFront is changed', () => {
    const changing = firewallOf({ ...options.cloudFront, firewall: { onlyCloudFront: false } });
    expect(rulesOf(changing).map(({ Name }) => Name)).toEqual(['RequestsPerAddress', ...MANAGED]);
    expect(ruleOf(changing, 'RequestsPerAddress').Statement).toEqual(ruleOf(firewall, 'RequestsPerAddress').Statement);
  });

  test('accepts the secret of the number that is set', () => {
    const { serverless } = options.cloudFront.hosts;
    const hosts = { serverless: { ...serverless, cloudFront: { ...serverless.cloudFront, secret: 2 } } };
    expect(JSON.stringify(ruleOf(firewallOf({ ...options.firewall, hosts }), 'OnlyCloudFront'))).toContain(
      '{{resolve:secretsmanager:sluice/cloudfront/serverless/2:SecretString:::}}',
    );
  });

  test('limits callers by the address that CloudFront tells, and not CloudFront', () => {
    expect(ruleOf(firewall, 'RequestsPerAddress').Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: 'FORWARDED_IP',
      ForwardedIPConfig: { HeaderName: 'x-sluice-viewer-address', FallbackBehavior: 'MATCH' },
    });
    expect(rulesOf(firewall).map(({ Name }) => Name)).not.toContain('AWSManagedRulesAmazonIpReputationList');
  });

  test('the control plane’s is as without CloudFront', () => {
    const control = firewallOf({ ...options.firewall, ...options.cloudFront }, 'control', []);
    expect(rulesOf(control).map(({ Name }) => Name)).toContain('AWSManagedRulesAmazonIpReputationList');
    expect(ruleOf(control, 'RequestsPerAddress').Statement.RateBasedStatement).toMatchObject({ AggregateKeyType: 'IP' });
  });
});
