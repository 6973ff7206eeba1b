import * as z from 'zod';
import { AwsError, type Operations, readInput } from '../http/json-api.ts';
import { matchesFilterPattern } from './filter-pattern.ts';
import { insightsOperations } from './insights-api.ts';
import type { LogEvent, LogGroup, LogGroups } from './log-groups.ts';

const MAX_EVENTS = 10_000;
const MAX_DESCRIBED = 50;

// The token is the index of the next item.
const Token = z.coerce.number<string>().int().min(0).default(0);
const GroupName = z.string().min(1).max(512);

const FilterLogEvents = z.object({
  logGroupName: GroupName,
  logStreamNames: z.array(z.string()).max(100).optional(),
  logStreamNamePrefix: z.string().default(''),
  startTime: z.number().default(0),
  endTime: z.number().default(Number.POSITIVE_INFINITY),
  filterPattern: z.string().max(1_024).default(''),
  limit: z.int().min(1).max(MAX_EVENTS).default(MAX_EVENTS),
  nextToken: Token,
});
const GetLogEvents = z.object({
  logGroupName: GroupName,
  logStreamName: z.string(),
  startTime: z.number().default(0),
  endTime: z.number().default(Number.POSITIVE_INFINITY),
  limit: z.int().min(1).max(MAX_EVENTS).default(MAX_EVENTS),
  startFromHead: z.boolean().default(false),
  /** `f/` or `b/` and an index. */
  nextToken: z
    .string()
    .regex(/^[fb]\/\d+$/)
    .optional(),
});
const DescribeLogStreams = z.object({
  logGroupName: GroupName,
  logStreamNamePrefix: z.string().default(''),
  orderBy: z.enum(['LogStreamName', 'LastEventTime']).default('LogStreamName'),
  descending: z.boolean().default(false),
  limit: z.int().min(1).max(MAX_DESCRIBED).default(MAX_DESCRIBED),
  nextToken: Token,
});
const DescribeLogGroups = z.object({
  logGroupNamePrefix: z.string().default(''),
  limit: z.int().min(1).max(MAX_DESCRIBED).default(MAX_DESCRIBED),
  nextToken: Token,
});

const page = <Item>(items: readonly Item[], start: number, limit: number): { items: Item[]; nextToken?: string } => {
  const end = start + limit;
  return { items: items.slice(start, end), ...(end < items.length && { nextToken: String(end) }) };
};

const isWithin = ({ timestamp }: LogEvent, { startTime, endTime }: { startTime: number; endTime: number }): boolean =>
  timestamp >= startTime && timestamp < endTime;

/**
 * The reads of CloudWatch Logs: FilterLogEvents, GetLogEvents, DescribeLogStreams, DescribeLogGroups, and queries of
 * Logs Insights.
 */
export const logsOperations = ({ groups }: LogGroups): Operations => {
  const find = (name: string): LogGroup => {
    const group = groups.get(name);
    if (!group) throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
    return group;
  };

  const filterLogEvents = (body: unknown): object => {
    const input = readInput(FilterLogEvents, body);
    const streams = [...find(input.logGroupName).streams().values()].filter(
      ({ name }) => name.startsWith(input.logStreamNamePrefix) && (input.logStreamNames?.includes(name) ?? true),
    );
    const found = streams
      .flatMap(({ name, events }) => events.map((event) => ({ ...event, stream: name })))
      .filter((event) => isWithin(event, input) && matchesFilterPattern(input.filterPattern, event.message))
      .sort((a, b) => a.timestamp - b.timestamp || a.id.localeCompare(b.id));
    const { items, nextToken } = page(found, input.nextToken, input.limit);
    const events = items.map(({ id, timestamp, message, stream }) => ({
      eventId: id,
      logStreamName: stream,
      timestamp,
      ingestionTime: timestamp,
      message,
    }));
    return { events, searchedLogStreams: [], nextToken };
  };

  const getLogEvents = (body: unknown): object => {
    const input = readInput(GetLogEvents, body);
    const stream = find(input.logGroupName).streams().get(input.logStreamName);
    if (!stream) throw new AwsError('ResourceNotFoundException', 'The specified log stream does not exist.');
    const all = stream.events.filter((event) => isWithin(event, input));
    const [direction, index] = input.nextToken?.split('/') ?? (input.startFromHead ? ['f', '0'] : ['b', String(all.length)]);
    const at = Math.min(Number(index), all.length);
    const [start, end] = direction === 'f' ? [at, Math.min(at + input.limit, all.length)] : [Math.max(0, at - input.limit), at];
    return {
      events: all.slice(start, end).map(({ timestamp, message }) => ({ timestamp, ingestionTime: timestamp, message })),
      nextForwardToken: `f/${end}`,
      nextBackwardToken: `b/${start}`,
    };
  };

  const describeLogStreams = (body: unknown): object => {
    const input = readInput(DescribeLogStreams, body);
    const streams = [...find(input.logGroupName).streams().values()]
      .filter(({ name }) => name.startsWith(input.logStreamNamePrefix))
      .map(({ name, createdAt, events }) => ({
        logStreamName: name,
        creationTime: createdAt,
        firstEventTimestamp: events.at(0)?.timestamp ?? createdAt,
        lastEventTimestamp: events.at(-1)?.timestamp ?? createdAt,
      }))
      .sort((a, b) =>
        input.orderBy === 'LastEventTime' ? a.lastEventTimestamp - b.lastEventTimestamp : a.logStreamName.localeCompare(b.logStreamName),
      );
    const { items, nextToken } = page(input.descending ? streams.reverse() : streams, input.nextToken, input.limit);
    return { logStreams: items, nextToken };
  };

  const describeLogGroups = (body: unknown): object => {
    const input = readInput(DescribeLogGroups, body);
    const found = [...groups.values()]
      .filter(({ name }) => name.startsWith(input.logGroupNamePrefix))
      .map(({ name, createdAt }) => ({ logGroupName: name, creationTime: createdAt }))
      .sort((a, b) => a.logGroupName.localeCompare(b.logGroupName));
    const { items, nextToken } = page(found, input.nextToken, input.limit);
    return { logGroups: items, nextToken };
  };

  return new Map([
    ...insightsOperations(groups),
    ['Logs_20140328.FilterLogEvents', filterLogEvents],
    ['Logs_20140328.GetLogEvents', getLogEvents],
    ['Logs_20140328.DescribeLogStreams', describeLogStreams],
    ['Logs_20140328.DescribeLogGroups', describeLogGroups],
  ]);
};
