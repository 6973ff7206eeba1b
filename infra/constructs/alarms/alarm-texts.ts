/** How soon someone must act on an alarm: at once, or on the next working day. */
export type Severity = 'page' | 'ticket';

export interface AlarmText {
  severity: Severity;
  /** The fact that sets it off, in one sentence. */
  fact: string;
  /** The people that it affects, and how. */
  impact: string;
}

const page = (fact: string, impact: string): AlarmText => ({ severity: 'page', fact, impact });
const ticket = (fact: string, impact: string): AlarmText => ({ severity: 'ticket', fact, impact });

const BURNING = 'use up the error budget of the month more than six times too fast';

/**
 * Every alarm that notifies, by its name in CloudWatch after the stack's, which is also the heading of its entry in
 * docs/runbook.md. An alarm pages if callers get errors, money is being lost or someone may be tampering with
 * records. Everything else can wait for the morning.
 */
export const alarmTexts = {
  HostUnavailable: page(
    'The serverless host returned more than five 5XX responses in five minutes, besides those of shared models that sleep or were stopped.',
    'Callers get errors.',
  ),
  OndemandUnavailable: page(
    'The on-demand host returned more than five 5XX responses in five minutes, besides those of deployments that sleep, were stopped or are full.',
    'Callers of deployments get errors.',
  ),
  ServerlessAvailabilityBurning: page(
    `Failed requests to the serverless host ${BURNING}.`,
    'Callers get errors, and slo.availability will be missed.',
  ),
  OndemandAvailabilityBurning: page(
    `Failed requests to the on-demand host ${BURNING}.`,
    'Callers of deployments get errors, and slo.availability will be missed.',
  ),
  ServerlessFirstTokensBurning: page(
    `Late first tokens of the serverless host ${BURNING}.`,
    'Callers wait for longer than slo.firstTokenMs promises.',
  ),
  OndemandFirstTokensBurning: ticket(
    `Late first tokens of the on-demand host ${BURNING}.`,
    'Callers of deployments wait for longer than slo.firstTokenMs promises.',
  ),
  ControlUnavailable: page(
    'The control plane returned more than five 5XX responses in five minutes.',
    'People and programs cannot manage keys, deployments and invoices. Requests to models still work.',
  ),
  LoginsRefused: ticket('More than a hundred logins were rejected in five minutes.', 'Someone may be guessing passwords.'),
  ResetMailsStuck: ticket(
    'A code to reset a password could not be emailed in five attempts.',
    'A user waits for it, and must request another one.',
  ),
  RequestsOrphaned: ticket(
    'The sweep settled requests whose function crashed.',
    'Their callers got no complete response, and pay nothing.',
  ),
  SettlementsFailed: page(
    'The usage of an answered request could be written neither to the table nor to the queue.',
    'The request will be settled at cost 0: its revenue is lost.',
  ),
  SettlementsStuck: ticket(
    'A queued settlement failed for about a day and was given up.',
    'The request is not charged unless you redrive the queue.',
  ),
  ContentNotKept: ticket(
    'A delivered response could not be stored, or the content of a request could not be written to the payload log.',
    'Its caller cannot continue or retrieve the response, or the log of an organization has a gap.',
  ),
  PayloadsLate: ticket(
    'The content of a request has waited for its redaction for more than an hour.',
    'The payload log of an organization lacks it, and it is lost after a day.',
  ),
  PayloadsStuck: ticket(
    'The content of a request could not be redacted in five attempts.',
    'It is lost within two days. The log of an organization has a gap.',
  ),
  ChargesInexact: ticket(
    'A request cost more than was held for it, or its runtime reported more tokens than the request can have used.',
    'The customer was charged less than the tokens cost, or for the tokens that Sluice counted.',
  ),
  RequestsFailedByUs: ticket('A request ended with an error of our own.', 'Its caller got a 500.'),
  SweepLate: ticket(
    'The sweep is more than half an hour behind.',
    'Requests that crashed functions left in flight keep counting against the limits of their keys for longer.',
  ),
  SweepStalled: page(
    'At most one sweep has succeeded in half an hour.',
    'Requests that crashed functions left in flight keep counting against the limits of their keys.',
  ),
  RollupsLate: ticket('Totals are more than a quarter of an hour behind the usage events.', 'Owners see usage and costs late.'),
  TokenizerFailed: ticket('The tokenizer threw an error or ran out of time or memory.', 'Callers whose prompt must be counted get a 503.'),
  ReconciliationsStuck: ticket(
    'The reconciliation of a deployment failed five times in a row.',
    'That deployment does not change until it succeeds.',
  ),
  ReconcilerFailed: page(
    'The function deployments threw more than ten errors in five minutes.',
    'Deployments are not created, woken, scaled, stopped or deleted.',
  ),
  ReconcilerStalled: page(
    'The function deployments has not run for half an hour.',
    'Instances keep running and are charged by AWS, and idle deployments do not sleep.',
  ),
  DeploymentsFailed: ticket(
    'A deployment failed, or AWS rejects a call for it, for a reason that its owner cannot fix.',
    'The deployment does not run, or does not scale, sleep or wake, until you act.',
  ),
  GpuTimeUncharged: page('Instances of a deployment ran and were not charged in full.', 'AWS charges for time that no customer pays for.'),
  TicketsLate: ticket(
    'A ticket has waited for support for too long, or tickets could not be counted.',
    'A promise to a customer is broken.',
  ),
  TicketsStalled: ticket(
    'No run of the function support has succeeded for half an hour.',
    'Resolved tickets are closed late, and late tickets raise no alarm.',
  ),
  TotalsDiffer: ticket('The totals of a closed month differ from its events.', 'The invoice is right. Owners see wrong usage and costs.'),
  MonthsNotClosed: ticket('A month that could be closed at 01:00 UTC is still open at 06:00.', 'Organizations get their invoices late.'),
  BillingTasksStuck: ticket('A task of billing failed twenty times and was given up.', 'An invoice, export or correction is missing.'),
  BillingFailed: ticket('The function billing ended with an error.', 'A task is delivered again after 16 minutes.'),
  BillingStalled: ticket(
    'The schedule of the function billing has not run for three hours.',
    'Months are not closed, credit does not expire and usage is not exported.',
  ),
  NotificationsLate: ticket(
    'The oldest notification that is not processed is older than a quarter of an hour.',
    'Webhooks and emails are late.',
  ),
  DeliveriesStuck: ticket(
    'A delivery failed for about a day for a reason of our own, and was given up.',
    'A webhook or an email was not sent.',
  ),
  AuditEntriesChanged: page(
    'An entry of the audit log was replaced or deleted.',
    'Someone with write access to the table may be hiding what they did.',
  ),
  AuditCopiesFailed: ticket('A batch of audit entries could not be copied for 20 hours.', 'Changes of these entries would not be noticed.'),
  AuditCopiesLate: ticket(
    'The oldest audit entry without a copy is older than a quarter of an hour.',
    'Changes of newer entries would not be noticed.',
  ),
  TelemetryLate: ticket(
    'The oldest usage event whose telemetry is not queued is older than a quarter of an hour.',
    'Spans and metrics are late. Requests and invoices do not depend on them.',
  ),
  TelemetryUndelivered: ticket('Telemetry has waited for a destination for more than two hours.', 'Its spans and metrics are late.'),
  TelemetryFailed: ticket('Telemetry could not be sent for 25 hours, or could not be read.', 'Spans and metrics are missing.'),
  TelemetryRejected: ticket('A destination rejected telemetry, which is not sent again.', 'Spans or metrics are missing there.'),
} as const satisfies Record<string, AlarmText>;

export type AlarmName = keyof typeof alarmTexts;

export const isAlarmName = (name: string): name is AlarmName => Object.hasOwn(alarmTexts, name);
