import type { LogQueryWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import { OPEN_STATUSES } from '../../../functions/support/count-tickets.ts';
import type { NodeFunction } from '../functions/node-function.ts';
import { type Alarms, logMessage } from './alarms.ts';
import { graphOfLines } from './dashboards.ts';

const COUNTED = 'tickets_counted';
const isLateOrUnknown = FilterPattern.any(
  ...['first_response_overdue', 'resolution_overdue'].map((field) =>
    FilterPattern.all(logMessage(COUNTED), FilterPattern.numberValue(`$.${field}`, '>', 0)),
  ),
  logMessage('tickets_not_counted'),
);

/** Adds the alarms of tickets. @returns what the dashboard shows of them */
export const addTicketAlarms = (alarms: Alarms, support: NodeFunction): LogQueryWidget[] => {
  alarms.above('TicketsLate', alarms.count('LateTicketsCounted', isLateOrUnknown, support), 0);
  alarms.whenAllFail('TicketsStalled', support);
  const shown = { from: support, message: COUNTED };
  return [
    graphOfLines('Tickets by status', {
      ...shown,
      isStacked: true,
      fields: Object.fromEntries(OPEN_STATUSES.map((status) => [status, `statuses.${status}`])),
    }),
    graphOfLines('Tickets that are late', {
      ...shown,
      fields: { 'First response': 'first_response_overdue', Resolution: 'resolution_overdue' },
    }),
  ];
};
