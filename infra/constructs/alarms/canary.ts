import { Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Config } from '../../config/config.ts';
import { PERIOD } from './alarms.ts';
import { availabilityOf, badPercentage, firstTokensOf, type Objective, type WatchedHost } from './slo-alarms.ts';

// The new version first gets this share of the requests.
const CANARY_PERCENTAGE = 10;
// A release may use up an objective's budget at this multiple of the allowed rate.
const BURN_RATE = 5;

// Percentage of bad requests, of both versions together, that rolls a release back. If a promise is so loose that the
// new version could not reach it alone, half of its requests being bad rolls it back.
const tolerated = (percentage: number): number => Math.min(Number((BURN_RATE * (100 - percentage)).toFixed(6)), CANARY_PERCENTAGE / 2);

/**
 * Moves the traffic of an alias to a new version in two steps: a tenth of the requests for five minutes, then all. A
 * request ends on the version on which it began. An alarm during these minutes moves all traffic back and fails the
 * deployment of the stack.
 */
export class Canary extends Construct {
  readonly #group: LambdaDeploymentGroup;

  constructor(scope: Construct, id: string, alias: Alias) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application');
    this.#group = new LambdaDeploymentGroup(this, 'Group', {
      application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    Validations.of(this.#group.role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'The CDK gives this policy of AWS to every deployment group of functions. Only CodeDeploy can assume the role.',
    });
  }

  /** Rolls a release back if it breaks one of the host's promises. */
  rollBackFor(host: WatchedHost, { slo, runbookUrl }: Pick<Config, 'slo' | 'runbookUrl'>): void {
    const watch = (id: string, fact: string, objective: Objective): void =>
      this.#group.addAlarm(
        new Alarm(this, id, {
          alarmDescription: `${fact} A release that is in progress is rolled back. ${runbookUrl}#alarms-of-releases`,
          metric: badPercentage(objective, PERIOD, slo.minimumMisses),
          threshold: tolerated(objective.percentage),
          evaluationPeriods: 1,
          comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        }),
      );
    watch('Unanswered', 'Too many requests are not answered.', availabilityOf(host, slo));
    watch('Late', 'Too many first tokens are late.', firstTokensOf(host, slo));
  }
}
