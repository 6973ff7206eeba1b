import * as z from 'zod';
import type { LambdaFunction, LogSubscription, Queue } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';
import { compileLogPattern } from './log-pattern.ts';

const SERVICE = 'logs.amazonaws.com';
// Lambda's default.
const RETRIES = 2;

const SubscriptionProperties = z.object({ LogGroupName: z.string(), FilterPattern: z.string(), DestinationArn: z.string() });
const PermissionProperties = z.object({
  Action: z.string(),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceArn: z.string().optional(),
});
const InvokeConfigProperties = z.object({
  FunctionName: z.string(),
  Qualifier: z.literal('$LATEST'),
  MaximumRetryAttempts: z.int().min(0).max(2).default(RETRIES),
  DestinationConfig: z.object({ OnFailure: z.object({ Destination: z.string() }) }).optional(),
});

interface SubscriptionResources {
  filters: readonly LocatedResource[];
  permissions: readonly LocatedResource[];
  invokeConfigs: readonly LocatedResource[];
  functions: readonly LambdaFunction[];
  queues: readonly Queue[];
}

const whereOf = ({ logicalId, stack }: LocatedResource): string => `${logicalId} in stack ${stack.name}`;

/**
 * Reads the AWS::Logs::SubscriptionFilters of functions' logs, with the AWS::Lambda::EventInvokeConfigs of the
 * functions that get the lines.
 * @throws Error naming a filter that is not supported, or whose function CloudWatch Logs may not invoke
 */
export const interpretLogSubscriptions = ({
  filters,
  permissions,
  invokeConfigs,
  functions,
  queues,
}: SubscriptionResources): LogSubscription[] => {
  const find = (nameOrArn: string, at: LocatedResource): LambdaFunction => {
    const fn = functions.find(({ name, arn }) => name === nameOrArn || arn === nameOrArn);
    if (!fn) throw new Error(`The local run knows only functions of the assembly, not ${nameOrArn} (${whereOf(at)})`);
    return fn;
  };
  const allowed = permissions
    .map((at) => readProperties(at, PermissionProperties))
    .filter(({ Action, Principal }) => Action === 'lambda:InvokeFunction' && Principal === SERVICE);
  const configs = invokeConfigs.map((at) => {
    const { FunctionName, MaximumRetryAttempts: maxRetries, DestinationConfig } = readProperties(at, InvokeConfigProperties);
    const failureQueueArn = DestinationConfig?.OnFailure.Destination;
    if (failureQueueArn !== undefined && !queues.some(({ arn }) => arn === failureQueueArn))
      throw new Error(`The local run sends failures to queues of the assembly only, not ${failureQueueArn} (${whereOf(at)})`);
    return { at, functionArn: find(FunctionName, at).arn, maxRetries, failureQueueArn };
  });
  const subscriptions = filters.map((at): LogSubscription => {
    const { LogGroupName, FilterPattern, DestinationArn } = readProperties(at, SubscriptionProperties);
    const { arn: functionArn, name } = find(DestinationArn, at);
    const source = functions.find(({ logGroup }) => logGroup === LogGroupName);
    if (!source) throw new Error(`The local run reads logs of functions of the assembly only, not ${LogGroupName} (${whereOf(at)})`);
    const isAllowed = allowed.some(
      ({ FunctionName, SourceArn }) =>
        (FunctionName === functionArn || FunctionName === name) && (SourceArn === undefined || SourceArn.endsWith(`:${LogGroupName}:*`)),
    );
    if (!isAllowed) throw new Error(`No permission lets ${SERVICE} invoke ${name} for ${LogGroupName} (${whereOf(at)})`);
    const { maxRetries = RETRIES, failureQueueArn } = configs.find((config) => config.functionArn === functionArn) ?? {};
    return {
      logicalId: at.logicalId,
      logGroup: LogGroupName,
      sourceName: source.shortName,
      matches: compileLogPattern(FilterPattern, whereOf(at)),
      functionArn,
      maxRetries,
      failureQueueArn,
    };
  });
  for (const { at, functionArn, failureQueueArn } of configs)
    if (failureQueueArn !== undefined && !subscriptions.some((subscription) => subscription.functionArn === functionArn))
      throw new Error(`The local run keeps the failures of functions that get log lines only (${whereOf(at)})`);
  return subscriptions;
};
