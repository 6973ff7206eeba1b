import * as z from 'zod';
import {
  type GpuTimeEventRecord,
  gpuTimeEventRecord,
  type UsageEventRecord,
  usageEventRecord,
} from '../../../../shared/billing/event-records.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { InvalidValue } from '../../../../shared/http/errors.ts';
import type { Page } from '../../../../shared/http/page.ts';
import { prefixes } from '../../../../shared/ids/id.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { GpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { BUCKET_MS, type UsageStore } from '../../../../shared/usage/usage-store.ts';
import { type Actor, isOfPlatform, organizationFor } from '../../access/actor.ts';
import { UnixSeconds } from '../../lists/unix-seconds.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import type { OrganizationStore } from '../../organizations/organization-store.ts';
import { cursorOf, positionOf } from '../../query/page-cursor.ts';
import { listOf } from '../../query/usage-query.ts';
import { type BusyBucket, type BusyDependencies, busyBuckets } from './busy-buckets.ts';
import { mergeEvents, sortKeyOf } from './merge-events.ts';

export interface EventDependencies extends BusyDependencies {
  organizations: Pick<OrganizationStore, 'get'>;
  usage: Pick<UsageStore, 'listByBucket'>;
  gpuEvents: Pick<GpuEventStore, 'listDays' | 'listByDeployment'>;
}

const MAX_DAYS = 31;
const MAX_LIMIT = 1_000;
// A page ends with the ten minutes in which it has sent this many queries or skipped this many events.
const MAX_QUERIES = 1_000;
const MAX_SKIPPED = 10_000;
const DEPLOYMENTS_AT_ONCE = 8;
const KINDS = ['usage_event', 'gpu_time_event'] as const;

export const EventsQuery = z.strictObject({
  start_time: UnixSeconds.meta({ description: 'The start of the time range in which requests arrived (Unix seconds), inclusive.' }),
  end_time: UnixSeconds.meta({
    description: `The end of the time range (Unix seconds), exclusive: at most ${MAX_DAYS} days after the start.`,
  }),
  api_key_ids: listOf('Only events of these API keys. GPU time belongs to none.'),
  models: listOf('Only events of these models.'),
  kinds: z.array(z.enum(KINDS)).optional().meta({ description: 'Only events of these kinds.' }),
  limit: z.coerce
    .number()
    .pipe(z.int().min(1).max(MAX_LIMIT))
    .default(100)
    .meta({ description: 'The maximum number of events on a page.', type: 'integer' }),
  after: z.string().optional().meta({ description: 'The `next` of the previous page. Returns the events after it.' }),
  organization: OrganizationId.optional().meta({ description: 'The organization. Required for admins; otherwise your own.' }),
});
export type EventsQuery = z.output<typeof EventsQuery>;

type EventRecord = UsageEventRecord | GpuTimeEventRecord;

const Position = z.strictObject({ at: z.int(), after: z.string().max(64).optional() });
type Position = z.output<typeof Position>;

const checkRange = ({ start_time, end_time }: EventsQuery): void => {
  const seconds = end_time - start_time;
  if (seconds <= 0 || seconds > (MAX_DAYS * DAY_MS) / SECOND_MS)
    throw new InvalidValue(
      'end_time',
      `expected a time after 'start_time', by at most ${MAX_DAYS} days. For a longer range, create an export with POST /v1/billing/exports`,
    );
};

const gpuEventsOf = async ({ gpuEvents }: EventDependencies, organization: string, day: string): Promise<GpuTimeEventRecord[]> => {
  const deployments = new Set<string>();
  for await (const { deploymentId } of gpuEvents.listDays(organization, day, day)) deployments.add(deploymentId);
  const events: GpuTimeEventRecord[] = [];
  const failures = await inParallel([...deployments], DEPLOYMENTS_AT_ONCE, async (id) => {
    for await (const event of gpuEvents.listByDeployment(id, day, day)) events.push(gpuTimeEventRecord(event));
  });
  throwFailures(failures);
  return events.sort((a, b) => (sortKeyOf(a.id) < sortKeyOf(b.id) ? -1 : 1));
};

interface Candidate extends BusyBucket {
  gpu: GpuTimeEventRecord[];
}

async function* candidatesOf(busy: AsyncGenerator<BusyBucket>, gpu: readonly GpuTimeEventRecord[]): AsyncGenerator<Candidate> {
  let next = 0;
  const takeGpu = (endMs: number): GpuTimeEventRecord[] => {
    const from = next;
    while (next < gpu.length && (gpu[next] as GpuTimeEventRecord).started_at * SECOND_MS < endMs) next++;
    return gpu.slice(from, next);
  };
  const gpuOnly = function* (endMs: number): Generator<Candidate> {
    for (let event = gpu[next]; event && event.started_at * SECOND_MS < endMs; event = gpu[next]) {
      const startMs = Math.floor((event.started_at * SECOND_MS) / BUCKET_MS) * BUCKET_MS;
      yield { startMs, shards: [], gpu: takeGpu(startMs + BUCKET_MS) };
    }
  };
  for await (const bucket of busy) {
    yield* gpuOnly(bucket.startMs);
    yield { ...bucket, gpu: takeGpu(bucket.startMs + BUCKET_MS) };
  }
  yield* gpuOnly(Number.POSITIVE_INFINITY);
}

async function* recordsOf(events: ReturnType<UsageStore['listByBucket']>): AsyncGenerator<EventRecord> {
  for await (const event of events) yield usageEventRecord(event);
}

interface Selection {
  organization: string;
  /** In ms since the epoch; the end is exclusive. */
  fromMs: number;
  toMs: number;
  query: EventsQuery;
  nowMs: number;
}

async function* selectedBuckets(
  deps: EventDependencies,
  { organization, toMs, query, nowMs }: Selection,
  fromMs: number,
): AsyncGenerator<Candidate> {
  const { kinds = KINDS, api_key_ids } = query;
  const isWantedKey = (key: string): boolean => api_key_ids?.includes(key) ?? true;
  const busy = kinds.includes('usage_event') ? await busyBuckets(deps, organization, isWantedKey, nowMs) : noBuckets;
  const wantsGpu = kinds.includes('gpu_time_event') && api_key_ids === undefined;
  const endMs = Math.min(toMs, nowMs + DAY_MS);
  for (let ms = fromMs; ms < endMs; ms = nextDayOf(ms)) {
    const gpu = wantsGpu ? await gpuEventsOf(deps, organization, dayOf(ms)) : [];
    const rest = gpu.filter(({ started_at }) => started_at * SECOND_MS >= ms && started_at * SECOND_MS < toMs);
    yield* candidatesOf(busy(ms, Math.min(nextDayOf(ms), toMs)), rest);
  }
}

const nextDayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS + DAY_MS;
async function* noBuckets(): AsyncGenerator<BusyBucket> {
  yield* [];
}

const isSelected = (event: EventRecord, { fromMs, toMs, query }: Selection): boolean => {
  const atMs = event.object === 'usage_event' ? requestTimeMs(event.id) : event.started_at * SECOND_MS;
  return atMs >= fromMs && atMs < toMs && (query.models?.includes(event.model ?? '') ?? true);
};

const eventsIn = (
  { usage }: EventDependencies,
  { startMs, shards, gpu }: Candidate,
  after: string | undefined,
  atOnce: number,
): AsyncGenerator<EventRecord> => {
  const position = { after: after === undefined ? undefined : prefixes.request + after, atOnce };
  const lists = shards.map((shard) => recordsOf(usage.listByBucket(shard, startMs, position)));
  const rest: EventRecord[] = gpu.filter(({ id }) => after === undefined || sortKeyOf(id) > after);
  return mergeEvents<EventRecord>([...lists, rest.values()]);
};

const readEvents = async (
  deps: EventDependencies,
  selection: Selection,
  start: Position,
): Promise<{ data: EventRecord[]; next: Position | undefined }> => {
  const { limit } = selection.query;
  const data: EventRecord[] = [];
  let queries = 0;
  let skipped = 0;
  for await (const bucket of selectedBuckets(deps, selection, start.at)) {
    const { startMs: at, shards } = bucket;
    if (queries > 0 && queries + shards.length > MAX_QUERIES) return { data, next: { at } };
    queries += shards.length;
    let after = at === start.at ? start.after : undefined;
    for await (const event of eventsIn(deps, bucket, after, limit + 1)) {
      if (data.length === limit || skipped === MAX_SKIPPED) return { data, next: { at, after } };
      after = sortKeyOf(event.id);
      if (isSelected(event, selection)) data.push(event);
      else skipped++;
    }
  }
  return { data, next: undefined };
};

/**
 * Lists an organization's usage events and GPU time, oldest first. The work per page is bounded: it can have fewer
 * events than asked for, or none, although there are more.
 * @throws 400, 404
 */
export const listEvents = async (deps: EventDependencies, actor: Actor, query: EventsQuery): Promise<Page<EventRecord>> => {
  checkRange(query);
  const organization = organizationFor(actor, query.organization);
  if (isOfPlatform(actor)) await deps.organizations.get(organization);
  const { limit: _, after: cursor, ...facts } = query;
  const bound = { ...facts, route: 'events', organization, user: actor.userId };
  const [fromMs, toMs] = [query.start_time * SECOND_MS, query.end_time * SECOND_MS];
  const first = Math.floor(fromMs / BUCKET_MS) * BUCKET_MS;
  const InRange = Position.refine(({ at }) => at >= first && at < toMs && at % BUCKET_MS === 0);
  const start = cursor === undefined ? { at: first } : positionOf(cursor, { bound, position: InRange, param: 'after', next: 'next' });
  const { data, next } = await readEvents(deps, { organization, fromMs, toMs, query, nowMs: actor.origin.nowMs }, start);
  return { object: 'list', data, has_more: next !== undefined, next: next ? cursorOf(bound, next) : null };
};
