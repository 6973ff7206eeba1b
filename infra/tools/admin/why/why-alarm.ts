import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type AlarmName, alarmTexts } from '../../../constructs/alarms/alarm-texts.ts';
import { describeRows } from './describe-rows.ts';
import { queryLogs, type TimeRange } from './query-logs.ts';
import { queryFor, readEntry } from './runbook.ts';

/**
 * Says what an alarm means, whom it affects, what to do, and what the logs have about it.
 * @param prefix of the stacks' names
 */
export const whyAlarm = async (logs: CloudWatchLogsClient, name: AlarmName, prefix: string, range: TimeRange): Promise<string> => {
  const { severity, fact, impact } = alarmTexts[name];
  const entry = readEntry(name);
  const head = [`${name} (${severity})`, `${fact} ${impact}`, '', entry?.advice ?? 'docs/runbook.md has no entry for this alarm.'];
  if (entry?.query === undefined) return `${head.join('\n')}\n`;
  const query = queryFor(entry.query, prefix);
  const rows = await queryLogs(logs, query, range);
  return `${[...head, '', query, '', describeRows(rows)].join('\n')}\n`;
};
