import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { OPEN_STATUSES } from '../../../functions/support/count-tickets.ts';
import type { NodeFunction } from '../functions/node-function.ts';
import { type Alarms, logMessage, metricNameOf } from './alarms.ts';
import { labelled } from './dashboards.ts';

/** Adds the alarms of tickets. @returns what the dashboard shows of them */
export const addTicketAlarms = (alarms: Alarms, support: NodeFunction): { byStatus: Metric[]; late: Metric[] } => {
  const counted = logMessage('tickets_counted');
  const unanswered = alarms.value('FirstResponsesOverdue', counted, '$.first_response_overdue', support);
  const unresolved = alarms.value('ResolutionsOverdue', counted, '$.resolution_overdue', support);
  alarms.above('TicketsUnanswered', unanswered, 0);
  alarms.above('TicketsUnresolved', unresolved, 0);
  alarms.whenMissing('TicketsStalled', alarms.count('TicketsCounted', counted, support));
  const byStatus = OPEN_STATUSES.map((status) =>
    labelled(status, alarms.value(`Tickets${metricNameOf(status)}`, counted, `$.statuses.${status}`, support)),
  );
  return { byStatus, late: [labelled('First response', unanswered), labelled('Resolution', unresolved)] };
};
