import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { type IWidget, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import { LIVE_STATES } from '../../functions/deployments/count-states.ts';
import type { ReasonCode } from '../../functions/deployments/reasons.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/time/units.ts';
import type { Config } from '../config/config.ts';
import {
  Alarms,
  ageOfStream,
  errorsOf,
  logMessage,
  metricNameOf,
  PERIOD,
  throttlesOf,
  visibleMessages,
} from '../constructs/alarms/alarms.ts';
import { BillBudget } from '../constructs/alarms/bill-budget.ts';
import { addBillingAlarms } from '../constructs/alarms/billing-alarms.ts';
import { addDashboard, executionsOf, graph, inUnits, labelled, latencyOf, sumsOf, trafficOf } from '../constructs/alarms/dashboards.ts';
import { addHostMetrics, type HostMetrics } from '../constructs/alarms/host-metrics.ts';
import { addSloAlarms, type HostPrefix } from '../constructs/alarms/slo-alarms.ts';
import { addTelemetryAlarms } from '../constructs/alarms/telemetry-alarms.ts';
import { addTicketAlarms } from '../constructs/alarms/ticket-alarms.ts';
import type { NodeFunction } from '../constructs/functions/node-function.ts';
import { rowsOfHost } from '../constructs/hosts/host-dashboard.ts';
import type { InferenceHost } from '../constructs/hosts/inference-host.ts';
import type { Telemetry } from '../constructs/queues/telemetry.ts';
import type { BillingStack } from './billing-stack.ts';
import type { ControlStack } from './control-stack.ts';
import type { DeploymentsStack } from './deployments-stack.ts';
import type { NotificationsStack } from './notifications-stack.ts';
import type { OndemandStack } from './ondemand-stack.ts';
import type { ServerlessStack } from './serverless-stack.ts';
import type { SupportStack } from './support-stack.ts';

const TRACED_SHARE = 0.05;
// Reasons why a deployment fails, or lacks what its owner wants, that its owner can't fix.
const OPERATORS_REASONS: readonly ReasonCode[] = [
  'quota_exceeded',
  'image_not_started',
  'scale_to_zero_unsupported',
  'access_denied',
  'rejected_by_aws',
];
// The deployment sleeps, or was stopped: its owner wants that, and callers are told when to try again.
const NOT_IN_SERVICE = ['deployment_waking', 'deployment_not_ready'];
// On the on-demand host, the owner of a deployment decides how many copies it has.
const DECIDED_BY_OWNERS = ['no_capacity'];
// More errors in five minutes than a short outage of AWS explains.
const REPEATED_ERRORS = 10;
// More refused logins in five minutes than typing errors explain.
const LOGINS_REFUSED = 100;
// The age of the oldest event that is not rolled up. Batches wait for a minute.
const ROLLUPS_LATE = Duration.minutes(15);
// Longer than the longest wait before a rejected call is made again, so that the alarm doesn't end in between.
const REJECTED_CALLS_PERIOD = Duration.minutes(20);
// A payload that fails is given up after half an hour.
const PAYLOADS_LATE = Duration.hours(1);
const AUDIT_COPIES_LATE = Duration.minutes(15);

interface OperationsStackProps {
  config: Config;
  billing: BillingStack;
  notifications: NotificationsStack;
  deployments: DeploymentsStack;
  serverless: ServerlessStack;
  ondemand: OndemandStack;
  control: ControlStack;
  support: SupportStack;
  /** Only if the configuration has `telemetry`. */
  telemetry?: Telemetry;
}

/**
 * The dashboards, one for each host, and the alarms. docs/runbook.md has an entry for each alarm, under its name.
 */
export class OperationsStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { config, billing, notifications, deployments, serverless, ondemand, control, support, telemetry }: OperationsStackProps,
  ) {
    super(scope, id);
    // The topic of pages keeps the id of the only topic of older releases, with whatever has been subscribed to it.
    const topics = { page: new Topic(this, 'Alarms', { enforceSSL: true }), ticket: new Topic(this, 'AlarmTickets', { enforceSSL: true }) };
    const { alarmEmail, billBudget, runbookUrl } = config;
    for (const topic of Object.values(topics)) {
      // A topic with its own policy loses the default one, which lets the account publish.
      topic.addToResourcePolicy(
        new PolicyStatement({
          principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
          actions: ['sns:Publish'],
          resources: [topic.topicArn],
          conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
        }),
      );
      if (alarmEmail) topic.addSubscription(new EmailSubscription(alarmEmail));
    }
    new CfnOutput(this, 'PagesTopicArn', { value: topics.page.topicArn, description: 'Alarms that someone must act on at once.' });
    new CfnOutput(this, 'TicketsTopicArn', {
      value: topics.ticket.topicArn,
      description: 'Alarms that can wait for the next working day.',
    });
    if (alarmEmail && billBudget) new BillBudget(this, 'BillBudget', { ...billBudget, email: alarmEmail });
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
    const { rollups, refusals, payloadRedaction } = serverless;
    const inference = [serverless.host.inference, ondemand.host.inference];
    const catalogs = [serverless.host.catalog, ondemand.host.catalog];
    const others = [
      serverless.metering,
      rollups.function,
      refusals.function,
      payloadRedaction.function,
      serverless.tokenizer,
      deployments.function,
    ];
    if (telemetry) others.push(telemetry.function);
    if (control.auditCopies) others.push(control.auditCopies.function);
    const alarms = new Alarms(this, { topics, namespace: config.name, runbookUrl });
    const orphaned = alarms.count('Orphaned', logMessage('orphaned'), serverless.metering);
    const unsettled = alarms.count('SettlementFailed', logMessage('settlement_failed'), ...inference);
    const notKept = alarms.count('ResponseNotKept', logMessage('response_not_kept'), ...inference);
    const notLogged = alarms.count(
      'PayloadLogFailed',
      FilterPattern.any(logMessage('payload_log_failed'), logMessage('queued_payload_gone')),
      ...inference,
      payloadRedaction.function,
    );
    const unhandled = alarms.count(
      'UnhandledError',
      logMessage('unhandled_error'),
      ...inference,
      ...catalogs,
      control.function,
      control.signIn,
      control.machineSignIn,
      control.singleSignOn,
      control.console,
    );
    const refusedLogins = alarms.count('LoginRefused', FilterPattern.stringValue('$.code', '=', 'login_refused'), control.signIn);
    const swept = new MetricFilter(this, 'SweepCompleted', {
      logGroup: serverless.metering.logGroup,
      filterPattern: FilterPattern.all(logMessage('sweep'), FilterPattern.booleanValue('$.complete', true)),
      metricNamespace: config.name,
      metricName: 'SweepCompleted',
      // Sweeps that run but never complete count as 0. Only a function that does not run has no data.
      defaultValue: 0,
    }).metric({ statistic: 'sum', period: PERIOD });
    const ofOperators = FilterPattern.any(...OPERATORS_REASONS.map((code) => FilterPattern.stringValue('$.reason', '=', code)));
    const failedDeployments = alarms.count(
      'DeploymentFailed',
      FilterPattern.all(logMessage('deployment_state'), FilterPattern.stringValue('$.state', '=', 'failed'), ofOperators),
      deployments.function,
    );
    const rejectedCalls = alarms.count(
      'DeploymentCallRejected',
      FilterPattern.all(logMessage('aws_call_rejected'), FilterPattern.booleanValue('$.is_repeated', true), ofOperators),
      deployments.function,
    );
    const uncharged = alarms.count(
      'GpuTimeNotCharged',
      FilterPattern.any(logMessage('gpu_time_unpriced'), logMessage('gpu_time_unpaid'), logMessage('gpu_time_not_metered')),
      deployments.function,
    );
    alarms.count('RequestsRefused', logMessage('refused'), ...inference);
    const capped = alarms.count('ChargeCapped', FilterPattern.booleanValue('$.is_capped', true), ...inference);
    const overcounted = alarms.count('RequestOvercounted', FilterPattern.booleanValue('$.is_overcounted', true), ...inference);
    const watchHost = (prefix: HostPrefix, host: InferenceHost, excused: readonly string[]): HostMetrics => {
      const metrics = addHostMetrics(alarms, prefix, { inference: host.inference, excused, firstTokenMs: config.slo.firstTokenMs });
      const watched = { inference: host.inference, metrics };
      addSloAlarms(alarms, prefix, watched, config.slo);
      host.canary?.rollBackFor(watched, config);
      return metrics;
    };
    const onServerless = watchHost('Serverless', serverless.host, NOT_IN_SERVICE);
    const onOndemand = watchHost('Ondemand', ondemand.host, [...NOT_IN_SERVICE, ...DECIDED_BY_OWNERS]);
    const behind = alarms.value('SweepBehindMs', logMessage('sweep'), '$.behind_ms', serverless.metering);
    const byState = LIVE_STATES.map((state) =>
      labelled(
        state,
        alarms.value(`DeploymentState${metricNameOf(state)}`, logMessage('deployments_counted'), `$.states.${state}`, deployments.function),
      ),
    );
    const stage = serverless.host.api.deploymentStage;
    const ondemandStage = ondemand.host.api.deploymentStage;

    alarms.above('HostUnavailable', stage.metricServerError({ statistic: 'sum', period: PERIOD }), 5);
    alarms.above('OndemandUnavailable', ondemandStage.metricServerError({ statistic: 'sum', period: PERIOD }), 5);
    const controlErrors = control.host.api.deploymentStage.metricServerError({ statistic: 'sum', period: PERIOD });
    alarms.above('ControlUnavailable', controlErrors, 5);
    alarms.above('LoginsRefused', refusedLogins, LOGINS_REFUSED);
    alarms.above('SignInThrottled', throttlesOf(control.signIn), 0);
    alarms.above('MachineSignInThrottled', throttlesOf(control.machineSignIn), 0);
    alarms.above('SingleSignOnThrottled', throttlesOf(control.singleSignOn), 0);
    alarms.above('ResetMailsStuck', visibleMessages(control.resetMails.failures), 0);
    alarms.above('RequestsOrphaned', orphaned, 0);
    alarms.above('SettlementsFailed', unsettled, 0);
    alarms.above('ResponsesNotKept', notKept, 0);
    alarms.above('PayloadsNotLogged', notLogged, 0);
    const oldestPayload = payloadRedaction.queue.metricApproximateAgeOfOldestMessage({ statistic: 'max', period: PERIOD });
    alarms.above('PayloadsLate', oldestPayload, PAYLOADS_LATE.toSeconds());
    alarms.above('PayloadsStuck', visibleMessages(payloadRedaction.failures), 0);
    alarms.above('RequestsOvercounted', overcounted, 0);
    alarms.above('ChargesCapped', capped, 0);
    alarms.above('RequestsFailedByUs', unhandled, 0);
    alarms.above('SweepFailed', errorsOf(serverless.metering), 0);
    alarms.whenMissing('SweepStalled', swept);
    alarms.above('SettlementsStuck', visibleMessages(serverless.settlements.failures), 0);
    alarms.above('RollupsFailed', visibleMessages(rollups.failures), 0);
    alarms.above('RollupsLate', ageOfStream(rollups.function), ROLLUPS_LATE.toMilliseconds());
    alarms.above('RefusalsNotCounted', visibleMessages(refusals.failures), 0);
    alarms.above('InferenceThrottled', throttles(inference), 0);
    alarms.above('TokenizerFailed', errorsOf(serverless.tokenizer), 0);
    alarms.above('TokenizerThrottled', throttlesOf(serverless.tokenizer), 0);

    alarms.above('ReconciliationsStuck', visibleMessages(deployments.reconciliations.failures), 0);
    alarms.above('ReconcilerFailed', errorsOf(deployments.function), REPEATED_ERRORS);
    alarms.whenMissing('ReconcilerStalled', deployments.function.metricInvocations({ statistic: 'sum', period: PERIOD }));
    alarms.above('DeploymentsFailed', failedDeployments, 0);
    alarms.above('DeploymentCallsRejected', rejectedCalls.with({ period: REJECTED_CALLS_PERIOD }), 0);
    alarms.above('GpuTimeUncharged', uncharged, 0);

    const ofTickets = addTicketAlarms(alarms, support.function);
    const ofBilling = addBillingAlarms(alarms, { billing, notifications });

    if (control.auditCopies) {
      const { failures, function: copier } = control.auditCopies;
      alarms.above('AuditEntriesChanged', alarms.count('AuditEntryChanged', logMessage('audit_entry_changed'), copier), 0);
      alarms.above('AuditCopiesFailed', visibleMessages(failures), 0);
      alarms.above('AuditCopiesLate', ageOfStream(copier), AUDIT_COPIES_LATE.toMilliseconds());
    }

    if (telemetry) addTelemetryAlarms(alarms, telemetry);

    const { name, slo } = config;
    const ages = {
      Totals: ageOfStream(rollups.function),
      Notifications: ageOfStream(notifications.function),
      ...(telemetry && { Telemetry: ageOfStream(telemetry.function) }),
      ...(control.auditCopies && { 'Audit copies': ageOfStream(control.auditCopies.function) }),
    };
    const addHostDashboard = (id: string, host: string, rows: IWidget[][]): void =>
      addDashboard(this, id, `${name}-${host}`, alarms.all, rows);
    addHostDashboard('ServerlessDashboard', 'serverless', [
      ...rowsOfHost(serverless.host, onServerless, slo),
      [
        graph('Sweep: behind (minutes)', inUnits(MINUTE_MS, { Behind: behind })),
        graph('Streams: age of the oldest record (s)', inUnits(SECOND_MS, ages)),
      ],
      [graph('Metering', [orphaned, unsettled, unhandled, overcounted, capped]), graph('Other functions', sumsOf('Errors', others))],
    ]);
    addHostDashboard('OndemandDashboard', 'ondemand', [
      ...rowsOfHost(ondemand.host, onOndemand, slo),
      [
        graph('Deployments by state', byState, { stacked: true }),
        graph('Reconciler', [
          labelled('Passes that threw', errorsOf(deployments.function)),
          labelled('Given up', visibleMessages(deployments.reconciliations.failures)),
          labelled('Failed deployments', failedDeployments),
          labelled('GPU time not charged', uncharged),
        ]),
      ],
    ]);
    const ofControlPlane = [
      control.function,
      control.signIn,
      control.machineSignIn,
      control.singleSignOn,
      control.console,
      billing.function,
      notifications.function,
      support.function,
    ];
    const { deploymentStage: controlStage } = control.host.api;
    addHostDashboard('ControlDashboard', 'control', [
      [trafficOf(controlStage), latencyOf(controlStage)],
      [graph('Logins', [labelled('Refused', refusedLogins)]), graph('Billing', ofBilling)],
      [graph('Tickets by status', ofTickets.byStatus, { stacked: true }), graph('Tickets that are late', ofTickets.late)],
      [graph('Executions', executionsOf(ofControlPlane)), graph('Function errors', sumsOf('Errors', ofControlPlane))],
    ]);
  }
}

// FILL is needed because a function without invocations has no metric.
const throttles = (functions: readonly NodeFunction[]): MathExpression => {
  const metrics = functions.map((fn, i) => [`m${i + 1}`, throttlesOf(fn)] as const);
  return new MathExpression({
    expression: `SUM([${metrics.map(([id]) => `FILL(${id}, 0)`).join(', ')}])`,
    usingMetrics: Object.fromEntries(metrics),
    period: PERIOD,
  });
};
