import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Dashboard, GraphWidget, type IMetric, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import type { Config } from '../config.ts';
import type { NodeFunction } from '../constructs/node-function.ts';
import type { DataStack } from './data-stack.ts';
import type { ServerlessStack } from './serverless-stack.ts';

const PERIOD = Duration.minutes(5);
const TRACED_SHARE = 0.05;

/** What an operator looks at, and is woken by. Each alarm has an entry of its name in docs/operations.md. */
export class OperationsStack extends Stack {
  readonly #topic: Topic | undefined;

  constructor(scope: Construct, id: string, { config, serverless }: { config: Config; data: DataStack; serverless: ServerlessStack }) {
    super(scope, id);
    if (config.alarmEmail) {
      this.#topic = new Topic(this, 'Alarms', { enforceSSL: true });
      this.#topic.addSubscription(new EmailSubscription(config.alarmEmail));
    }
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
    const functions = [serverless.inference, serverless.catalog, serverless.metering];
    const count = (name: string, fn: NodeFunction, message: string): Metric => {
      const filter = new MetricFilter(this, name, {
        logGroup: fn.logGroup,
        filterPattern: FilterPattern.stringValue('$.message', '=', message),
        metricNamespace: config.name,
        metricName: name,
        defaultValue: 0,
      });
      return filter.metric({ statistic: 'sum', period: PERIOD });
    };
    const orphaned = count('Orphaned', serverless.metering, 'orphaned');
    const unsettled = count('SettlementFailed', serverless.inference, 'settlement_failed');
    const unhandled = count('UnhandledError', serverless.inference, 'unhandled_error');
    const stage = serverless.host.api.deploymentStage;

    this.#alarm('HostUnavailable', stage.metricServerError({ statistic: 'sum', period: PERIOD }), 5);
    this.#alarm('RequestsOrphaned', orphaned, 0);
    this.#alarm('SettlementsFailed', unsettled, 0);
    this.#alarm('RequestsFailedByUs', unhandled, 0);
    this.#alarm('SweepFailed', serverless.metering.metricErrors({ statistic: 'sum', period: PERIOD }), 0);
    this.#alarm('InferenceThrottled', serverless.inference.metricThrottles({ statistic: 'sum', period: PERIOD }), 0);

    new Dashboard(this, 'Dashboard', {
      dashboardName: config.name,
      widgets: [
        [
          this.#graph('Requests', [
            stage.metricCount({ period: PERIOD }),
            stage.metricClientError({ period: PERIOD }),
            stage.metricServerError({ period: PERIOD }),
          ]),
        ],
        [
          this.#graph('Latency (ms)', [
            stage.metricLatency({ statistic: 'p50', period: PERIOD }),
            stage.metricLatency({ statistic: 'p99', period: PERIOD }),
          ]),
          this.#graph('Metering', [orphaned, unsettled, unhandled]),
        ],
        [
          this.#graph(
            'Function errors',
            functions.map((fn) => fn.metricErrors({ period: PERIOD })),
          ),
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

  #alarm(name: string, metric: IMetric, threshold: number): void {
    const alarm = new Alarm(this, name, {
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `See docs/operations.md, "${name}".`,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
}
