import { Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Config } from '../../config/config.ts';
import { acknowledgeUnexercised } from './acknowledge-unexercised.ts';
import { acknowledgeWildcards } from './acknowledge-wildcards.ts';
import { generationLogArns } from './generation-names.ts';
import type { NodeFunction } from './node-function.ts';

interface ExecutionRoleProps {
  config: Config;
  /** The environment variable with the role's ARN, for functions that can pass it. */
  variable: string;
}

/**
 * The role that SageMaker assumes to run deployments: it pulls images and writes logs and metrics. It reads weights
 * only if a bucket grants that. A container has this role's credentials, too, unless its network is isolated:
 * docs/decisions/0032.
 */
export class ExecutionRole extends Construct {
  readonly role: Role;
  readonly #variable: string;

  constructor(scope: Construct, id: string, { config, variable }: ExecutionRoleProps) {
    super(scope, id);
    this.#variable = variable;
    const { partition, account, region } = Stack.of(this);
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('sagemaker.amazonaws.com', {
        // Not a wildcard: SageMaker sends exactly this for its endpoints (see AWS's page about the confused deputy).
        conditions: { ArnLike: { 'aws:SourceArn': `arn:${partition}:sagemaker:${region}:${account}:*` } },
      }),
    });
    this.#grantImages(config);
    this.#grantLogs(config);
    acknowledgeUnexercised(this.role, { actions: ['*'] }, 'SageMaker uses the role for containers of deployments; no function has it.');
  }

  /** Lets a function create models and endpoints that run with this role, and gives it the role's ARN. */
  grantPass(grantee: NodeFunction): void {
    grantee.addToRolePolicy(
      new PolicyStatement({
        actions: ['iam:PassRole'],
        resources: [this.role.roleArn],
        conditions: { StringEquals: { 'iam:PassedToService': 'sagemaker.amazonaws.com' } },
      }),
    );
    grantee.addEnvironment(this.#variable, this.role.roleArn);
  }

  #grantImages({ deployments: { repositories } }: Config): void {
    const { partition, region } = Stack.of(this);
    const resources = repositories.map((name) => `arn:${partition}:ecr:${region}:*:repository/${name}`);
    const actions = ['BatchCheckLayerAvailability', 'BatchGetImage', 'GetDownloadUrlForLayer'].map((action) => `ecr:${action}`);
    this.role.addToPolicy(new PolicyStatement({ actions, resources }));
    acknowledgeWildcards(this.role, resources, 'The images of runtimes are in accounts of AWS, a different one in each region.');
    this.role.addToPolicy(new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }));
  }

  #grantLogs(config: Config): void {
    const groups = generationLogArns(this, config, 'Endpoints', 'InferenceComponents');
    const resources = [...groups, ...groups.map((arn) => `${arn}:log-stream:*`)];
    const actions = ['CreateLogGroup', 'CreateLogStream', 'DescribeLogStreams', 'PutLogEvents'].map((action) => `logs:${action}`);
    this.role.addToPolicy(new PolicyStatement({ actions, resources }));
    acknowledgeWildcards(this.role, resources, 'Deployments are created while the service runs. Their names have this form.');
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['cloudwatch:PutMetricData'],
        resources: ['*'],
        conditions: { StringLike: { 'cloudwatch:namespace': '/aws/sagemaker/*' } },
      }),
    );
    acknowledgeWildcards(
      this.role,
      ['*'],
      'GetAuthorizationToken and PutMetricData do not support resource-level permissions. Metrics are limited to the namespaces of SageMaker.',
    );
  }
}
