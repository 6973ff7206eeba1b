import { compareValues, type FieldValue, type InsightsQuery, type ReadField } from './insights-query.ts';
import type { LogEvent } from './log-groups.ts';

/** A row of a result: each column's name and value. A column without a value is missing. */
export type ResultRow = { field: string; value: string }[];

/** A line, where it is. */
export interface LocatedEvent extends LogEvent {
  group: string;
  stream: string;
}

const parsed = (message: string): unknown => {
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
};

// `2026-11-21 00:00:00.000`, in UTC.
const timeOf = (timestamp: number): string => new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '');

const valueAt = (line: unknown, field: string): FieldValue => {
  const found = field.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], line);
  return typeof found === 'object' && found !== null ? JSON.stringify(found) : (found as FieldValue);
};

const readerOf = (event: LocatedEvent): ReadField => {
  const line = parsed(event.message);
  const own: Readonly<Record<string, string>> = {
    '@timestamp': timeOf(event.timestamp),
    '@message': event.message,
    '@log': event.group,
    '@logStream': event.stream,
  };
  return (field) => own[field] ?? valueAt(line, field);
};

const readerOfRow =
  (row: ReadonlyMap<string, FieldValue>): ReadField =>
  (field) =>
    row.get(field);

const aggregate = ({ kind, field }: { kind: string; field: string }, lines: readonly ReadField[]): number | undefined => {
  if (kind === 'count' && field === '*') return lines.length;
  const values = lines.map((read) => read(field)).filter((value) => (value ?? null) !== null);
  if (kind === 'count') return values.length;
  const numbers = values.map(Number).filter((value) => !Number.isNaN(value));
  if (numbers.length === 0) return undefined;
  if (kind === 'sum') return numbers.reduce((sum, value) => sum + value, 0);
  return kind === 'min' ? Math.min(...numbers) : Math.max(...numbers);
};

const aggregated = ({ aggregations, by }: NonNullable<InsightsQuery['stats']>, lines: readonly ReadField[]): ReadField[] => {
  const groups = new Map<string, ReadField[]>();
  for (const read of lines) {
    const key = JSON.stringify(by.map((field) => read(field) ?? null));
    groups.set(key, [...(groups.get(key) ?? []), read]);
  }
  return [...groups.values()].map((group) =>
    readerOfRow(
      new Map([
        ...by.map((field) => [field, group[0]?.(field)] as const),
        ...aggregations.map((aggregation) => [aggregation.as, aggregate(aggregation, group)] as const),
      ]),
    ),
  );
};

/** The rows of a query over these lines. Without `sort`, the newest line comes first. */
export const runQuery = (query: InsightsQuery, events: readonly LocatedEvent[]): ResultRow[] => {
  const { columns, filters, stats, sort, limit } = query;
  const lines = events
    .toSorted((one, other) => other.timestamp - one.timestamp)
    .map(readerOf)
    .filter((read) => filters.every((holds) => holds(read)));
  const shown = stats ? [...stats.by, ...stats.aggregations.map(({ as }) => as)].map((as) => ({ field: as, as })) : columns;
  const rows = stats ? aggregated(stats, lines) : lines;
  const byField = (one: ReadField, other: ReadField): number =>
    sort ? compareValues(one(sort.field), other(sort.field)) * (sort.descending ? -1 : 1) : 0;
  return rows
    .toSorted(byField)
    .slice(0, limit)
    .map((read) =>
      shown.flatMap(({ field, as }) => {
        const value = read(field) ?? null;
        return value === null ? [] : [{ field: as, value: String(value) }];
      }),
    );
};
