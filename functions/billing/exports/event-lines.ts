import { UsageEventRecord, usageEventRecord } from '../../../shared/billing/event-records.ts';
import { type Cell, csvLines } from '../../../shared/csv/csv.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';

const { object: _, ...columns } = UsageEventRecord.shape;
const COLUMNS = Object.keys(columns) as (keyof typeof columns)[];

const cellOf = (value: unknown): Cell => {
  if (value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The first line of a file of events; JSON Lines have none. */
export const eventHeader = (format: 'csv' | 'jsonl'): string => (format === 'csv' ? csvLines([COLUMNS]) : '');

/** An event as a line of the file, with the fields of GET /v1/billing/events. */
export const eventLine = (format: 'csv' | 'jsonl', event: UsageEvent): string => {
  const record = usageEventRecord(event);
  return format === 'csv' ? csvLines([COLUMNS.map((name) => cellOf(record[name]))]) : `${JSON.stringify(record)}\n`;
};
