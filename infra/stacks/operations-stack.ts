import { Duration, Stack } from 'aws-cdk-lib';
import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, type IFilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import type { ReasonCode } from '../../functions/deployments/reasons.ts';
import type { Config } from '../config/config.ts';
import type { NodeFunction } from '../constructs/node-function.ts';
import type { BillingStack } from './billing-stack.ts';
import type { ControlStack } from './control-stack.ts';
import type { DeploymentsStack } from './deployments-stack.ts';
import type { NotificationsStack } from './notifications-stack.ts';
import type { OndemandStack } from './ondemand-stack.ts';
import type { ServerlessStack } from './serverless-stack.ts';

const PERIOD = Duration.minutes(5);
const TRACED_SHARE = 0.05;
/** Why a deployment fails that its owner can't fix. */
const OPERATORS_REASONS: readonly ReasonCode[] = [
  'quota_exceeded',
  'image_not_started',
  'scale_to_zero_unsupported',
  'access_denied',
  'rejected_by_aws',
];
/** More errors in five minutes than a short outage of AWS explains. */
const REPEATED = 10;
/** Refused logins in five minutes: more than typing errors explain. */
const LOGINS_REFUSED = 100;
/** The age of the oldest event that is not rolled up. Batches wait for a minute. */
const ROLLUPS_LATE = Duration.minutes(15);
const AUDIT_COPIES_LATE = Duration.minutes(15);

interface OperationsStackProps {
  config: Config;
  billing: BillingStack;
  notifications: NotificationsStack;
  deployments: DeploymentsStack;
  serverless: ServerlessStack;
  ondemand: OndemandStack;
  control: ControlStack;
}

/** The dashboard and the alarms. docs/operations.md has an entry for each alarm, under its name. */
export class OperationsStack extends Stack {
  readonly #topic: Topic;

  constructor(scope: Construct, id: string, { config, deployments, serverless, ondemand, control }: OperationsStackProps) {
    super(scope, id);
    this.#topic = new Topic(this, 'Alarms', { enforceSSL: true });
    // A topic with its own policy loses the default one, which lets the account publish.
    this.#topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.#topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
      }),
    );
    if (config.alarmEmail) this.#topic.addSubscription(new EmailSubscription(config.alarmEmail));
    new CfnSamplingRule(this, 'Traces', {
      samplingRule: {
        version: 1,
        ruleName: config.name,
        priority: 1_000,
        fixedRate: TRACED_SHARE,
        reservoirSize: 0,
        serviceName: `${config.name}-*`,
        serviceType: '*',
        host: '*',
        httpMethod: '*',
        urlPath: '*',
        resourceArn: '*',
      },
    });
    const { rollups } = serverless;
    const inference = [serverless.host.inference, ondemand.host.inference];
    const catalogs = [serverless.host.catalog, ondemand.host.catalog];
    const functions = [
      ...inference,
      ...catalogs,
      serverless.metering,
      rollups.function,
      serverless.tokenizer,
      control.function,
      deployments.function,
    ];
    if (control.auditCopies) functions.push(control.auditCopies.function);
    const count = (name: string, pattern: IFilterPattern, ...from: NodeFunction[]): Metric => {
      const filters = from.map(
        (fn, i) =>
          new MetricFilter(this, i === 0 ? name : `${name}${i + 1}`, {
            logGroup: fn.logGroup,
            filterPattern: pattern,
            metricNamespace: config.name,
            metricName: name,
          }),
      );
      return (filters[0] as MetricFilter).metric({ statistic: 'sum', period: PERIOD });
    };
    const says = (message: string) => FilterPattern.stringValue('$.message', '=', message);
    const orphaned = count('Orphaned', says('orphaned'), serverless.metering);
    const unsettled = count('SettlementFailed', says('settlement_failed'), ...inference);
    const notKept = count('ResponseNotKept', says('response_not_kept'), ...inference);
    const unhandled = count('UnhandledError', says('unhandled_error'), ...inference, ...catalogs, control.function);
    const refusedLogins = count('LoginRefused', FilterPattern.stringValue('$.code', '=', 'login_refused'), control.function);
    const swept = new MetricFilter(this, 'SweepCompleted', {
      logGroup: serverless.metering.logGroup,
      filterPattern: FilterPattern.all(says('sweep'), FilterPattern.booleanValue('$.complete', true)),
      metricNamespace: config.name,
      metricName: 'SweepCompleted',
      // Sweeps that run but never complete count as 0. Only a function that does not run has no data.
      defaultValue: 0,
    }).metric({ statistic: 'sum', period: PERIOD });
    const ofOperators = FilterPattern.any(...OPERATORS_REASONS.map((code) => FilterPattern.stringValue('$.reason', '=', code)));
    const failedDeployments = count(
      'DeploymentFailed',
      FilterPattern.all(says('deployment_state'), FilterPattern.stringValue('$.state', '=', 'failed'), ofOperators),
      deployments.function,
    );
    const uncharged = count(
      'GpuTimeNotCharged',
      FilterPattern.any(says('gpu_time_unpriced'), says('gpu_time_unpaid'), says('gpu_time_not_metered')),
      deployments.function,
    );
    const refused = count('RequestsRefused', says('refused'), ...inference);
    const capped = count('ChargeCapped', FilterPattern.booleanValue('$.is_capped', true), ...inference);
    const overcounted = count('RequestOvercounted', FilterPattern.booleanValue('$.is_overcounted', true), ...inference);
    const stage = serverless.host.api.deploymentStage;
    const ondemandStage = ondemand.host.api.deploymentStage;

    this.#alarm('HostUnavailable', stage.metricServerError({ statistic: 'sum', period: PERIOD }), 5);
    this.#alarm('OndemandUnavailable', ondemandStage.metricServerError({ statistic: 'sum', period: PERIOD }), 5);
    const controlErrors = control.host.api.deploymentStage.metricServerError({ statistic: 'sum', period: PERIOD });
    this.#alarm('ControlUnavailable', controlErrors, 5);
    this.#alarm('LoginsRefused', refusedLogins, LOGINS_REFUSED);
    this.#alarm('RequestsOrphaned', orphaned, 0);
    this.#alarm('SettlementsFailed', unsettled, 0);
    this.#alarm('ResponsesNotKept', notKept, 0);
    this.#alarm('RequestsOvercounted', overcounted, 0);
    this.#alarm('ChargesCapped', capped, 0);
    this.#alarm('RequestsFailedByUs', unhandled, 0);
    this.#alarm('SweepFailed', serverless.metering.metricErrors({ statistic: 'sum', period: PERIOD }), 0);
    this.#alarmWithout('SweepStalled', swept);
    const lost = serverless.settlements.failures.metricApproximateNumberOfMessagesVisible({ statistic: 'max', period: PERIOD });
    this.#alarm('SettlementsStuck', lost, 0);
    const failedBatches = rollups.failures.metricApproximateNumberOfMessagesVisible({ statistic: 'max', period: PERIOD });
    this.#alarm('RollupsFailed', failedBatches, 0);
    const rollupsAge = rollups.function.metric('IteratorAge', { statistic: 'max', period: PERIOD });
    this.#alarm('RollupsLate', rollupsAge, ROLLUPS_LATE.toMilliseconds());
    this.#alarm('InferenceThrottled', throttles(inference), 0);
    this.#alarm('TokenizerFailed', serverless.tokenizer.metricErrors({ statistic: 'sum', period: PERIOD }), 0);
    this.#alarm('TokenizerThrottled', serverless.tokenizer.metricThrottles({ statistic: 'sum', period: PERIOD }), 0);

    const failedReconciliations = deployments.reconciliations.failures.metricApproximateNumberOfMessagesVisible({
      statistic: 'max',
      period: PERIOD,
    });
    this.#alarm('ReconciliationsStuck', failedReconciliations, 0);
    this.#alarm('ReconcilerFailed', deployments.function.metricErrors({ statistic: 'sum', period: PERIOD }), REPEATED);
    this.#alarmWithout('ReconcilerStalled', deployments.function.metricInvocations({ statistic: 'sum', period: PERIOD }));
    this.#alarm('DeploymentsFailed', failedDeployments, 0);
    this.#alarm('GpuTimeUncharged', uncharged, 0);

    if (control.auditCopies) {
      const { failures, function: copier } = control.auditCopies;
      this.#alarm('AuditEntriesChanged', count('AuditEntryChanged', says('audit_entry_changed'), copier), 0);
      const failedCopies = failures.metricApproximateNumberOfMessagesVisible({ statistic: 'max', period: PERIOD });
      this.#alarm('AuditCopiesFailed', failedCopies, 0);
      const copiesAge = copier.metric('IteratorAge', { statistic: 'max', period: PERIOD });
      this.#alarm('AuditCopiesLate', copiesAge, AUDIT_COPIES_LATE.toMilliseconds());
    }

    new Dashboard(this, 'Dashboard', {
      dashboardName: config.name,
      widgets: [
        [this.#graph('Requests', requests(stage)), this.#graph('On-demand requests', requests(ondemandStage))],
        [this.#graph('Latency (ms)', latency(stage)), this.#graph('On-demand latency (ms)', latency(ondemandStage))],
        [
          this.#graph('Metering', [orphaned, unsettled, unhandled, refused, overcounted, capped]),
          this.#graph(
            'Function errors',
            functions.map((fn) => fn.metricErrors({ period: PERIOD })),
          ),
        ],
        [
          this.#graph(
            'Concurrency',
            functions.map((fn) => fn.metric('ConcurrentExecutions', { statistic: 'max', period: PERIOD })),
          ),
        ],
      ],
    });
  }

  #graph(title: string, left: IMetric[]): GraphWidget {
    return new GraphWidget({ title, left, width: 12 });
  }

  /** Goes off when the metric is above the threshold in one period. */
  #alarm(name: string, metric: IMetric, threshold: number): void {
    const comparisonOperator = ComparisonOperator.GREATER_THAN_THRESHOLD;
    this.#act(name, { metric, threshold, evaluationPeriods: 1, comparisonOperator, treatMissingData: TreatMissingData.NOT_BREACHING });
  }

  /**
   * Goes off when the metric has been 0 for half an hour, and when it stops having values. A new alarm has no state until the first value, because
   * missing data is not a breach; it would otherwise start in alarm.
   */
  #alarmWithout(name: string, metric: IMetric): void {
    const comparisonOperator = ComparisonOperator.LESS_THAN_THRESHOLD;
    const alarm = this.#act(name, {
      metric,
      threshold: 1,
      evaluationPeriods: 6,
      comparisonOperator,
      treatMissingData: TreatMissingData.MISSING,
    });
    alarm.addInsufficientDataAction(new SnsAction(this.#topic));
  }

  #act(name: string, props: AlarmProps): Alarm {
    const alarm = new Alarm(this, name, { ...props, alarmDescription: `See docs/operations.md, "${name}".` });
    alarm.addAlarmAction(new SnsAction(this.#topic));
    return alarm;
  }
}

const requests = (stage: Stage): Metric[] => [
  stage.metricCount({ period: PERIOD }),
  stage.metricClientError({ period: PERIOD }),
  stage.metricServerError({ period: PERIOD }),
];

const latency = (stage: Stage): Metric[] => [
  stage.metricLatency({ statistic: 'p50', period: PERIOD }),
  stage.metricLatency({ statistic: 'p99', period: PERIOD }),
];

/** The throttles of all these functions. FILL is needed because a function without invocations has no metric. */
const throttles = (functions: readonly NodeFunction[]): MathExpression => {
  const metrics = functions.map((fn, i) => [`m${i + 1}`, fn.metricThrottles({ statistic: 'sum', period: PERIOD })] as const);
  return new MathExpression({
    expression: `SUM([${metrics.map(([id]) => `FILL(${id}, 0)`).join(', ')}])`,
    usingMetrics: Object.fromEntries(metrics),
    period: PERIOD,
  });
};
