import { SecretValue } from 'aws-cdk-lib';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { Config } from '../../config/config.ts';
import { CLOUD_FRONT_HEADER, cloudFrontSecretName, VIEWER_HEADER } from './cloud-front.ts';

type Rule = CfnWebACL.RuleProperty;
type Statement = CfnWebACL.StatementProperty;

const RATE_WINDOW_SECONDS = 300;

// AWS's rules about bodies only count, because tickets quote code and logs, webhooks have addresses, and many bodies
// are larger than 8 KB. See docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
const BODY_RULES = {
  AWSManagedRulesCommonRuleSet: [
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
  ],
  AWSManagedRulesKnownBadInputsRuleSet: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
} as const;

// Programs without a user agent are welcome, and so are queries of more than 2 KB: callbacks of single sign-on with
// Microsoft Entra have longer codes. API Gateway accepts no more than 10 KB of path, query and headers.
const OF_VALID_REQUESTS = ['NoUserAgent_HEADER', 'SizeRestrictions_QUERYSTRING'];

interface FirewallProps {
  config: Config;
  name: keyof Config['hosts'];
  /** The ARN of the API's stage. */
  stageArn: string;
  /** The paths whose requests have prompts. */
  prompts: readonly string[];
}

/**
 * A web application firewall of a host's stage, so that it also protects the API's own URL and what calls the host
 * past CloudFront. It keeps no samples of requests and no log: both would have API keys.
 */
export class Firewall extends Construct {
  readonly #metrics: string;

  constructor(scope: Construct, id: string, { config, name, stageArn, prompts }: FirewallProps) {
    super(scope, id);
    this.#metrics = `${config.name}-${name}`;
    if (config.firewall === undefined) throw new Error('The configuration has no firewall.');
    const { requestsPerAddress: limit, onlyCloudFront } = config.firewall;
    const cloudFront = name === 'control' ? undefined : config.hosts[name].cloudFront;
    const rules = [
      ...(cloudFront && onlyCloudFront ? [this.#onlyCloudFront(cloudFrontSecretName(config, name, cloudFront.secret))] : []),
      // The list knows the addresses of connections, which are CloudFront's.
      ...(cloudFront ? [] : [this.#managed('AWSManagedRulesAmazonIpReputationList')]),
      this.#limit(limit, cloudFront !== undefined),
      ...Object.entries(BODY_RULES).map(([group, bodies]) =>
        this.#managed(group, {
          ruleActionOverrides: [...bodies, ...(group === 'AWSManagedRulesCommonRuleSet' ? OF_VALID_REQUESTS : [])].map((rule) => ({
            name: rule,
            actionToUse: { count: {} },
          })),
          ...(prompts.length > 0 && { scopeDownStatement: { notStatement: { statement: atOneOf(prompts) } } }),
        }),
      ),
    ];
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: this.#visibility(this.#metrics),
      rules: rules.map((rule, priority) => ({ ...rule, priority })),
    });
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stageArn, webAclArn: acl.attrArn });
  }

  #managed(name: string, more: Partial<CfnWebACL.ManagedRuleGroupStatementProperty> = {}): Omit<Rule, 'priority'> {
    return {
      name,
      statement: { managedRuleGroupStatement: { vendorName: 'AWS', name, ...more } },
      overrideAction: { none: {} },
      visibilityConfig: this.#visibility(name),
    };
  }

  #limit(limit: number, hasCloudFront: boolean): Omit<Rule, 'priority'> {
    const byViewer = { aggregateKeyType: 'FORWARDED_IP', forwardedIpConfig: { headerName: VIEWER_HEADER, fallbackBehavior: 'MATCH' } };
    return {
      name: 'RequestsPerAddress',
      action: { block: {} },
      statement: {
        rateBasedStatement: {
          limit,
          evaluationWindowSec: RATE_WINDOW_SECONDS,
          ...(hasCloudFront ? byViewer : { aggregateKeyType: 'IP' }),
        },
      },
      visibilityConfig: this.#visibility('RequestsPerAddress'),
    };
  }

  /** Without it, callers of the domain's target in API Gateway could invent their address. */
  #onlyCloudFront(secretName: string): Omit<Rule, 'priority'> {
    const isFromCloudFront = {
      byteMatchStatement: {
        fieldToMatch: { singleHeader: { Name: CLOUD_FRONT_HEADER } },
        positionalConstraint: 'EXACTLY',
        searchString: SecretValue.secretsManager(secretName).unsafeUnwrap(),
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    };
    return {
      name: 'OnlyCloudFront',
      action: { block: {} },
      statement: { notStatement: { statement: isFromCloudFront } },
      visibilityConfig: this.#visibility('OnlyCloudFront'),
    };
  }

  #visibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
    return { cloudWatchMetricsEnabled: true, metricName, sampledRequestsEnabled: false };
  }
}

// At the API's own URL, the stage is before the path.
const atOneOf = (paths: readonly string[]): Statement => {
  const statements = paths.map((path) => ({
    byteMatchStatement: {
      fieldToMatch: { uriPath: {} },
      positionalConstraint: 'ENDS_WITH',
      searchString: path,
      textTransformations: [{ priority: 0, type: 'NONE' }],
    },
  }));
  const [only, ...others] = statements;
  return only && others.length === 0 ? only : { orStatement: { statements } };
};
