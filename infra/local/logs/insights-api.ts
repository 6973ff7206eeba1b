import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { AwsError, type Operations, readInput } from '../http/json-api.ts';
import { type InsightsQuery, parseQuery } from './insights-query.ts';
import type { LogGroup } from './log-groups.ts';
import { type LocatedEvent, type ResultRow, runQuery } from './run-insights-query.ts';

// Results of the oldest queries are dropped beyond this number.
const MAX_KEPT_QUERIES = 100;

const StartQuery = z.object({
  logGroupNames: z.array(z.string()).max(50).default([]),
  /** Both in seconds since the epoch, and inclusive. */
  startTime: z.number(),
  endTime: z.number(),
  queryString: z.string().max(10_000),
});
const GetQueryResults = z.object({ queryId: z.string() });

// Throws AwsError MalformedQueryException.
const readQuery = (text: string): InsightsQuery => {
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new AwsError('MalformedQueryException', error.message);
    throw error;
  }
};

/** The queries of CloudWatch Logs Insights. A result is complete at once. */
export const insightsOperations = (groups: ReadonlyMap<string, LogGroup>): Operations => {
  const results = new Map<string, ResultRow[]>();

  const groupsOf = ({ prefixes }: InsightsQuery, names: readonly string[]): LogGroup[] => {
    const missing = names.find((name) => !groups.has(name));
    if (missing !== undefined) throw new AwsError('ResourceNotFoundException', `Log group '${missing}' does not exist.`);
    return [...groups.values()].filter(({ name }) => names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix)));
  };

  const eventsOf = (group: LogGroup, startMs: number, endMs: number): LocatedEvent[] =>
    [...group.streams().values()].flatMap((stream) =>
      stream.events
        .filter(({ timestamp }) => timestamp >= startMs && timestamp < endMs)
        .map((event) => ({ ...event, group: group.name, stream: stream.name })),
    );

  const startQuery = (body: unknown): object => {
    const { logGroupNames, startTime, endTime, queryString } = readInput(StartQuery, body);
    const query = readQuery(queryString);
    const events = groupsOf(query, logGroupNames).flatMap((group) => eventsOf(group, startTime * SECOND_MS, (endTime + 1) * SECOND_MS));
    const queryId = randomUUID();
    results.set(queryId, runQuery(query, events));
    const [oldest] = results.keys();
    if (results.size > MAX_KEPT_QUERIES && oldest !== undefined) results.delete(oldest);
    return { queryId };
  };

  const getQueryResults = (body: unknown): object => {
    const rows = results.get(readInput(GetQueryResults, body).queryId);
    if (!rows) throw new AwsError('ResourceNotFoundException', 'The specified query does not exist.');
    return { status: 'Complete', results: rows };
  };

  return new Map([
    ['Logs_20140328.StartQuery', startQuery],
    ['Logs_20140328.GetQueryResults', getQueryResults],
  ]);
};
