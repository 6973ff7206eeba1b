import * as z from 'zod';
import { SPAN_MS } from '../../../shared/usage/organization-totals.ts';
import {
  createGroups,
  type Filters,
  isNone,
  matches,
  type UsageDimension,
  type UsageGroup,
  type UsageRecord,
} from '../query/group-usage.ts';
import { type CursorBinding, cursorOf, positionOf } from '../query/page-cursor.ts';
import { organizationsOf, type ScopeDependencies, type UsageScope } from '../query/scope.ts';
import { bucketsOf, type TimeRange, type Width, widthSpan } from '../query/time-buckets.ts';

// A page ends with the bucket in which it has read this many rows, and continues within a bucket with more results.
const MAX_ROWS = 20_000;
const MAX_RESULTS = 4_000;

// At a bucket of some organizations, after `skip` of its results.
const Position = z.strictObject({ at: z.int(), skip: z.int().min(0), after: z.string().max(64).optional() });
type Position = z.output<typeof Position>;

export interface BucketQuery {
  scope: UsageScope;
  range: TimeRange;
  width: Width;
  limit: number;
  page: string | undefined;
  bound: CursorBinding;
  filters: Filters;
  groupBy: readonly UsageDimension[];
  /** Reads the usage of an organization in the order of time. */
  read: (organization: string, range: TimeRange) => AsyncGenerator<UsageRecord>[];
}

export interface UsageBucket extends TimeRange {
  groups: UsageGroup[];
}

const readerOf = (usage: AsyncGenerator<UsageRecord>) => {
  let next: IteratorResult<UsageRecord> | undefined;
  return async (endMs: number): Promise<UsageRecord[]> => {
    const taken: UsageRecord[] = [];
    for (;;) {
      next ??= await usage.next();
      if (next.done || next.value.startMs >= endMs) return taken;
      taken.push(next.value);
      next = undefined;
    }
  };
};

const startOf = ({ page, bound, range, width }: BucketQuery): Position => {
  if (page === undefined) return { at: range.fromMs, skip: 0 };
  const earliest = range.fromMs - SPAN_MS[widthSpan(width)];
  const position = Position.refine(({ at }) => at >= earliest && at <= range.toMs && at % SPAN_MS.minute === 0);
  return positionOf(page, { bound, position, param: 'page', next: 'next_page' });
};

/**
 * Returns a page of buckets. A bucket with more results than a page can have continues on the next page. A query for
 * all organizations covers some of them per page: all buckets for the first ones, then all buckets for the next ones,
 * and so on.
 * @throws 400
 */
export const readBuckets = async (
  deps: ScopeDependencies,
  query: BucketQuery,
): Promise<{ buckets: UsageBucket[]; next: string | null }> => {
  const { range, width, limit, bound, filters, groupBy } = query;
  const start = startOf(query);
  const { ids, next } = await organizationsOf(deps, query.scope, start.after);
  const wanted = bucketsOf({ fromMs: start.at, toMs: range.toMs }, width, limit);
  const whole = { fromMs: start.at, toMs: wanted.at(-1)?.toMs ?? start.at };
  const readers = isNone(filters) ? [] : ids.flatMap((id) => query.read(id, whole)).map(readerOf);

  const buckets: UsageBucket[] = [];
  const pageEnd = (at: number, skip = 0): string => cursorOf(bound, { at, skip, ...(start.after && { after: start.after }) });
  let rows = 0;
  let room = MAX_RESULTS;
  let skip = start.skip;
  for (const bucket of wanted) {
    const groups = createGroups(groupBy);
    for (const usage of (await Promise.all(readers.map((take) => take(bucket.toMs)))).flat()) {
      rows++;
      if (matches(filters, usage)) groups.add(usage);
    }
    const results = groups.list().slice(skip);
    buckets.push({ ...bucket, groups: results.slice(0, room) });
    if (results.length > room) return { buckets, next: pageEnd(bucket.fromMs, skip + room) };
    room -= results.length;
    skip = 0;
    if (bucket.toMs < range.toMs && (rows >= MAX_ROWS || room === 0)) return { buckets, next: pageEnd(bucket.toMs) };
  }
  if (whole.toMs < range.toMs) return { buckets, next: pageEnd(whole.toMs) };
  return { buckets, next: next === null ? null : cursorOf(bound, { at: range.fromMs, skip: 0, after: next }) };
};
