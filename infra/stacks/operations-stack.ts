import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import { LIVE_STATES } from '../../functions/deployments/count-states.ts';
import type { ReasonCode } from '../../functions/deployments/reasons.ts';
import { SECOND_MS } from '../../shared/time/units.ts';
import type { Config } from '../config/config.ts';
import { Alarms, ageOfStream, errorsOf, keptRunsOf, logMessage, PERIOD, visibleMessages } from '../constructs/alarms/alarms.ts';
import { BillBudget } from '../constructs/alarms/bill-budget.ts';
import { addBillingAlarms } from '../constructs/alarms/billing-alarms.ts';
import {
  addDashboard,
  executionsOf,
  graph,
  graphOfLines,
  inUnits,
  labelled,
  latencyOf,
  sumsOf,
  trafficOf,
} from '../constructs/alarms/dashboards.ts';
import { addHostMetrics, type HostMetrics } from '../constructs/alarms/host-metrics.ts';
import { addSloAlarms, type HostPrefix } from '../constructs/alarms/slo-alarms.ts';
import { addTelemetryAlarms } from '../constructs/alarms/telemetry-alarms.ts';
import { addTicketAlarms } from '../constructs/alarms/ticket-alarms.ts';
import { rowsOfHost } from '../constructs/hosts/host-dashboard.ts';
import type { InferenceHost } from '../constructs/hosts/inference-host.ts';
import type { Telemetry } from '../constructs/queues/telemetry.ts';
import type { BillingStack } from './billing-stack.ts';
import type { ControlStack } from './control-stack.ts';
import type { DeploymentsStack } from './deployments-stack.ts';
import type { NotificationsStack } from './notifications-stack.ts';
import type { OndemandStack } from './ondemand-stack.ts';
import { type ServerlessStack, SWEEP_EVERY } from './serverless-stack.ts';
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
const OF_OWNERS = [...NOT_IN_SERVICE, ...DECIDED_BY_OWNERS];
// More errors in five minutes than a short outage of AWS explains.
const REPEATED_ERRORS = 10;
// More refused logins in five minutes than typing errors explain.
const LOGINS_REFUSED = 100;
// The age of the oldest event that is not rolled up. Batches wait for a minute.
const ROLLUPS_LATE = Duration.minutes(15);
// As long as an operator may be away from a sweep that has too little time.
const SWEEP_LATE = Duration.minutes(30);
// Longer than the longest wait before a rejected call is made again, so that the alarm doesn't end in between.
const FAILED_PERIOD = Duration.minutes(20);
// A payload that fails is given up after half an hour.
const PAYLOADS_LATE = Duration.hours(1);
const AUDIT_COPIES_LATE = Duration.minutes(15);

const HOST_TITLES = { Serverless: 'Serverless', Ondemand: 'On-demand' } as const;
const CONTROL_TITLE = 'Control plane';

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
 * The dashboard and the alarms. docs/runbook.md has an entry for each alarm, under its name.
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
    const notKept = alarms.count(
      'ContentLost',
      FilterPattern.any(...['response_not_kept', 'payload_log_failed', 'queued_payload_gone'].map(logMessage)),
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
    const lateSweeps = alarms.count(
      'SweepBehind',
      FilterPattern.all(logMessage('sweep'), FilterPattern.numberValue('$.behind_ms', '>', SWEEP_LATE.toMilliseconds())),
      serverless.metering,
    );
    const ofOperators = FilterPattern.any(...OPERATORS_REASONS.map((code) => FilterPattern.stringValue('$.reason', '=', code)));
    const failedDeployments = alarms.count(
      'DeploymentFailed',
      FilterPattern.all(
        FilterPattern.any(
          FilterPattern.all(logMessage('deployment_state'), FilterPattern.stringValue('$.state', '=', 'failed')),
          FilterPattern.all(logMessage('aws_call_rejected'), FilterPattern.booleanValue('$.is_repeated', true)),
        ),
        ofOperators,
      ),
      deployments.function,
    );
    const uncharged = alarms.count(
      'GpuTimeNotCharged',
      FilterPattern.any(logMessage('gpu_time_unpriced'), logMessage('gpu_time_unpaid'), logMessage('gpu_time_not_metered')),
      deployments.function,
    );
    alarms.count('RequestsRefused', logMessage('refused'), ...inference);
    const inexact = alarms.count(
      'ChargeInexact',
      FilterPattern.any(FilterPattern.booleanValue('$.is_capped', true), FilterPattern.booleanValue('$.is_overcounted', true)),
      ...inference,
    );
    const watchHost = (prefix: HostPrefix, host: InferenceHost, excused: readonly string[]): HostMetrics => {
      const metrics = addHostMetrics(alarms, prefix, { inference: host.inference, excused, firstTokenMs: config.slo.firstTokenMs });
      const watched = { inference: host.inference, metrics };
      addSloAlarms(alarms, prefix, watched, config.slo);
      host.canary?.rollBackFor(watched, config);
      return metrics;
    };
    const onServerless = watchHost('Serverless', serverless.host, NOT_IN_SERVICE);
    const onOndemand = watchHost('Ondemand', ondemand.host, OF_OWNERS);
    // API Gateway counts every 5XX, also those that tell callers when a deployment will be awake. Where nothing was
    // excused, the sum has one number.
    const failuresOf = (prefix: HostPrefix, host: InferenceHost, codes: readonly string[]): MathExpression => {
      const isExcused = FilterPattern.any(...codes.map((code) => FilterPattern.stringValue('$.code', '=', code)));
      const excused = alarms.count(`${prefix}RequestsExcused`, FilterPattern.all(logMessage('refused'), isExcused), host.inference);
      const errors = host.api.deploymentStage.metricServerError({ statistic: 'sum', period: PERIOD });
      return new MathExpression({ expression: 'SUM([errors, 0 - FILL(excused, 0)])', usingMetrics: { errors, excused }, period: PERIOD });
    };
    alarms.above('HostUnavailable', failuresOf('Serverless', serverless.host, NOT_IN_SERVICE), 5);
    alarms.above('OndemandUnavailable', failuresOf('Ondemand', ondemand.host, OF_OWNERS), 5);
    const controlErrors = control.host.api.deploymentStage.metricServerError({ statistic: 'sum', period: PERIOD });
    alarms.above('ControlUnavailable', controlErrors, 5);
    alarms.above('LoginsRefused', refusedLogins, LOGINS_REFUSED);
    alarms.above('ResetMailsStuck', visibleMessages(control.resetMails.failures), 0);
    alarms.above('RequestsOrphaned', orphaned, 0);
    alarms.above('SettlementsFailed', unsettled, 0);
    alarms.above('ContentNotKept', notKept, 0);
    const oldestPayload = payloadRedaction.queue.metricApproximateAgeOfOldestMessage({ statistic: 'max', period: PERIOD });
    alarms.above('PayloadsLate', oldestPayload, PAYLOADS_LATE.toSeconds());
    alarms.above('PayloadsStuck', visibleMessages(payloadRedaction.failures), 0);
    alarms.above('ChargesInexact', inexact, 0);
    alarms.above('RequestsFailedByUs', unhandled, 0);
    alarms.above('SweepLate', lateSweeps, 0);
    alarms.whenMissing('SweepStalled', keptRunsOf(serverless.sweepSchedule, serverless.metering, SWEEP_EVERY), 1);
    alarms.above('SettlementsStuck', visibleMessages(serverless.settlements.failures), 0);
    alarms.above('RollupsLate', ageOfStream(rollups.function), ROLLUPS_LATE.toMilliseconds());
    alarms.above('TokenizerFailed', errorsOf(serverless.tokenizer), 0);

    alarms.above('ReconciliationsStuck', visibleMessages(deployments.reconciliations.failures), 0);
    alarms.above('ReconcilerFailed', errorsOf(deployments.function), REPEATED_ERRORS);
    alarms.whenMissing('ReconcilerStalled', deployments.function.metricInvocations({ statistic: 'sum', period: PERIOD }));
    alarms.above('DeploymentsFailed', failedDeployments.with({ period: FAILED_PERIOD }), 0);
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
    const givenUp = { Totals: rollups.failures, Refusals: refusals.failures, Notifications: notifications.failures };
    addDashboard(this, 'Dashboard', name, alarms.all, [
      ...rowsOfHost(HOST_TITLES.Serverless, serverless.host, onServerless, slo),
      ...rowsOfHost(HOST_TITLES.Ondemand, ondemand.host, onOndemand, slo),
      [
        graphOfLines('Deployments by state', {
          from: deployments.function,
          message: 'deployments_counted',
          isStacked: true,
          fields: Object.fromEntries(LIVE_STATES.map((state) => [state, `states.${state}`])),
        }),
        graph('Reconciler', [
          labelled('Passes that threw', errorsOf(deployments.function)),
          labelled('Failed deployments', failedDeployments),
          labelled('GPU time not charged', uncharged),
        ]),
      ],
      [trafficOf(CONTROL_TITLE, controlStage), latencyOf(CONTROL_TITLE, controlStage)],
      [
        graph(`${CONTROL_TITLE}: executions`, executionsOf(ofControlPlane)),
        graph(`${CONTROL_TITLE}: function errors`, sumsOf('Errors', ofControlPlane)),
      ],
      [graph('Logins', [labelled('Refused', refusedLogins)]), graph('Billing', ofBilling)],
      ofTickets,
      [
        graphOfLines('How far the sweep is behind (ms)', { from: serverless.metering, message: 'sweep', fields: { Behind: 'behind_ms' } }),
        graph('Streams: age of the oldest record (s)', inUnits(SECOND_MS, ages)),
      ],
      [graph('Metering', [orphaned, unsettled, unhandled, inexact]), graph('Other functions', sumsOf('Errors', others))],
      [
        graph(
          'Given up, without an alarm',
          Object.entries(givenUp).map(([label, queue]) => labelled(label, visibleMessages(queue))),
        ),
        graph('Functions that could not start', sumsOf('Throttles', [...inference, ...others, ...ofControlPlane])),
      ],
    ]);
  }
}
