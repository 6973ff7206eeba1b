import { interpretAliases } from './interpret-aliases.ts';
import { interpretApis } from './interpret-apis.ts';
import { assertConnected, interpretEventSource } from './interpret-event-sources.ts';
import { interpretFunction } from './interpret-functions.ts';
import { interpretLogSubscriptions } from './interpret-log-subscriptions.ts';
import { interpretQueue, interpretQueueSource, isOfQueue } from './interpret-queues.ts';
import { readRoles } from './interpret-roles.ts';
import { interpretRule } from './interpret-rules.ts';
import { interpretTable } from './interpret-tables.ts';
import { interpretUserPool } from './interpret-user-pools.ts';
import type { Bucket, EventRule, EventSource, LambdaFunction, LocalApp, Queue, Schedule, Table, UserPool } from './local-app.ts';
import type { LocatedResource } from './located-resource.ts';
import type { Stack } from './read-assembly.ts';
import { createResolver } from './resolve.ts';

const INTERPRETED_WITH_THEIR_OWNER = new Set([
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Resource',
  'AWS::ApiGateway::Method',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Stage',
  'AWS::Cognito::UserPoolClient',
]);

// These have no effect that a caller of the local run could see.
const IGNORED = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::Budgets::Budget',
  'AWS::CDK::Metadata',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::Function',
  'AWS::CloudFront::OriginRequestPolicy',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::KMS::Alias',
  'AWS::KMS::Key',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::S3::BucketPolicy',
  'AWS::SecretsManager::Secret',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
  'AWS::XRay::SamplingRule',
]);

/**
 * Collects the parts of an assembly that the local run serves.
 * @throws Error naming type, logical id and stack of a resource that is neither supported nor ignored on purpose
 */
export const interpret = (stacks: readonly Stack[]): LocalApp => {
  const resolve = createResolver(stacks);
  const functions: LambdaFunction[] = [];
  const tables: Table[] = [];
  const buckets: Bucket[] = [];
  const queues: Queue[] = [];
  const userPools: UserPool[] = [];
  const schedules: Schedule[] = [];
  const eventRules: EventRule[] = [];
  const eventSources: EventSource[] = [];
  const aliases: LocatedResource[] = [];
  const ofQueues: LocatedResource[] = [];
  const located: LocatedResource[] = [];
  const ofLogs = { filters: [], permissions: [], invokeConfigs: [] } as Record<
    'filters' | 'permissions' | 'invokeConfigs',
    LocatedResource[]
  >;
  for (const stack of stacks) {
    for (const [logicalId, resource] of stack.resources) {
      const at = { stack, logicalId, resource, resolve };
      located.push(at);
      if (resource.type === 'AWS::Lambda::Function') functions.push(interpretFunction(at));
      else if (resource.type === 'AWS::Lambda::Alias') aliases.push(at);
      else if (resource.type === 'AWS::Lambda::EventSourceMapping' && isOfQueue(at)) ofQueues.push(at);
      else if (resource.type === 'AWS::Lambda::EventSourceMapping') eventSources.push(interpretEventSource(at));
      else if (resource.type === 'AWS::DynamoDB::GlobalTable') tables.push(...interpretTable(at));
      else if (resource.type === 'AWS::S3::Bucket') buckets.push({ name: String(resolve(stack, { Ref: logicalId })), logicalId });
      else if (resource.type === 'AWS::SQS::Queue') queues.push(interpretQueue(at));
      else if (resource.type === 'AWS::Cognito::UserPool') userPools.push(interpretUserPool(at));
      else if (resource.type === 'AWS::Logs::SubscriptionFilter') ofLogs.filters.push(at);
      else if (resource.type === 'AWS::Lambda::Permission') ofLogs.permissions.push(at);
      else if (resource.type === 'AWS::Lambda::EventInvokeConfig') ofLogs.invokeConfigs.push(at);
      else if (resource.type === 'AWS::Events::Rule') {
        const rules = interpretRule(at);
        schedules.push(...rules.schedules);
        eventRules.push(...rules.eventRules);
      } else if (!INTERPRETED_WITH_THEIR_OWNER.has(resource.type) && !IGNORED.has(resource.type)) {
        throw new Error(`The local run does not support ${resource.type} (${logicalId} in stack ${stack.name})`);
      }
    }
  }
  const functionOf = interpretAliases(aliases, functions);
  const apis = stacks.flatMap((stack) => interpretApis(stack, resolve, functionOf));
  const known = new Set(functions.map(({ arn }) => arn));
  for (const arn of [...apis.flatMap(({ routes }) => routes), ...schedules, ...eventRules].map(({ functionArn }) => functionArn)) {
    if (!known.has(arn)) throw new Error(`An integration or a rule calls ${arn}, which is not a function of the assembly`);
  }
  assertConnected(eventSources, { functions, tables, queues });
  const queueSources = ofQueues.map((at) => interpretQueueSource(at, queues, functions));
  const logSubscriptions = interpretLogSubscriptions({ ...ofLogs, functions, queues });
  return {
    apis,
    functions,
    tables,
    buckets,
    queues,
    userPools,
    schedules,
    eventRules,
    eventSources,
    queueSources,
    logSubscriptions,
    roles: readRoles(located),
  };
};
