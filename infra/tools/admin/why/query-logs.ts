import { setTimeout as sleep } from 'node:timers/promises';
import { type CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { SECOND_MS, unixSeconds } from '../../../../shared/time/units.ts';

/** A range of time, in milliseconds since the epoch. */
export interface TimeRange {
  startMs: number;
  endMs: number;
}

/** A row of a result: values by column. */
export type LogRow = ReadonlyMap<string, string>;

const POLL_MS = 500;
const MAX_POLLS = 240;
// CloudWatch adds a pointer to the line to each row.
const POINTER = '@ptr';

/**
 * Runs a query of CloudWatch Logs Insights that names its log groups, and waits for its end. @throws Error if it
 * fails or takes two minutes
 */
export const queryLogs = async (logs: CloudWatchLogsClient, query: string, { startMs, endMs }: TimeRange): Promise<LogRow[]> => {
  const { queryId } = await logs.send(
    new StartQueryCommand({ queryString: query, startTime: unixSeconds(startMs), endTime: Math.ceil(endMs / SECOND_MS) }),
  );
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const { status, results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
    if (status === 'Complete') return results.map(toRow);
    if (status !== 'Running' && status !== 'Scheduled') throw new Error(`The query of the logs ended with the status ${status}.`);
    await sleep(POLL_MS);
  }
  throw new Error('The query of the logs took two minutes. Repeat it with fewer --hours.');
};

const toRow = (fields: readonly { field?: string | undefined; value?: string | undefined }[]): LogRow =>
  new Map(fields.filter(({ field }) => field !== POINTER).map(({ field = '', value = '' }) => [field, value]));
