import type { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import type { NodeFunction } from './node-function.ts';

/**
 * Runs a function again and again. A run that fails is not repeated, neither by EventBridge nor by Lambda, and one
 * that waits for an environment until the next one comes is dropped: the next run finds what is left. No other event
 * may invoke the function without waiting for its result.
 * @returns its schedule
 */
export const runEvery = (scope: Construct, id: string, fn: NodeFunction, period: Duration): Rule => {
  const rule = new Rule(scope, id, { schedule: Schedule.rate(period), targets: [new LambdaTarget(fn, { retryAttempts: 0 })] });
  fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: period });
  return rule;
};
