import type { DynamoDBRecord } from 'aws-lambda';
import { readAttributes } from '../../shared/database/attribute-values.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { requestTimeMs } from '../../shared/ids/request-id.ts';
import { expiresAt, MAX_PARTITIONS, MAX_ROWS_PER_SECOND } from '../../shared/observability/request-partitions.ts';
import { type RequestRow, requestRowOf } from '../../shared/observability/request-row.ts';
import type { RequestRowStore } from '../../shared/observability/request-row-store.ts';
import { MINUTE_MS } from '../../shared/time/units.ts';
import { dayOf } from '../../shared/time/utc.ts';
import { UsageEvent } from '../../shared/usage/event.ts';
import type { OrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';

export interface RequestRowDependencies {
  requestRows: Pick<RequestRowStore, 'writer' | 'partitions'>;
  totals: Pick<OrganizationTotalsStore, 'list'>;
  /** ms since the epoch. */
  now: () => number;
}

const PUTS_AT_ONCE = 32;

// The minutes whose totals tell how busy an organization is.
const BUSY_MINUTES = 3;
// An organization with fewer requests per second in a batch is not busy: a batch comes from one partition of the table.
const MIN_BATCH_RATE = 50;
// The partitions of a busy organization's next day start as this one's, and are written so long before it.
const BEFORE_MIDNIGHT_MS = 60 * MINUTE_MS;

type Attributes = Parameters<typeof readAttributes>[0];

// Expired events are left out.
const rowsOf = (records: readonly DynamoDBRecord[], nowMs: number): RequestRow[] =>
  records.flatMap(({ dynamodb }) => {
    if (!dynamodb?.NewImage) return [];
    const row = requestRowOf(UsageEvent.parse(readAttributes(dynamodb.NewImage as Attributes)));
    return row && expiresAt(dayOf(requestTimeMs(row.request_id))) * 1_000 > nowMs ? [row] : [];
  });

const busyIn = (rows: readonly RequestRow[]): string[] => {
  const byOrganization = Map.groupBy(rows, ({ org_id }) => org_id);
  return [...byOrganization].flatMap(([organization, own]) => {
    const times = own.map(({ request_id }) => requestTimeMs(request_id)).sort((a, b) => a - b);
    const seconds = Math.max(1, ((times.at(-1) as number) - (times[0] as number)) / 1_000);
    return own.length / seconds >= MIN_BATCH_RATE ? [organization] : [];
  });
};

// The highest rate of the last minutes, of all keys together.
const rateOf = async ({ totals }: RequestRowDependencies, organization: string, nowMs: number): Promise<number> => {
  const toMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  const requests = new Map<number, number>();
  const query = { organization, span: 'minute', detail: 'model', fromMs: toMs - BUSY_MINUTES * MINUTE_MS, toMs } as const;
  for await (const { startMs, totals: sums } of totals.list(query)) requests.set(startMs, (requests.get(startMs) ?? 0) + sums.requests);
  return (Math.max(0, ...requests.values()) * 1_000) / MINUTE_MS;
};

// More partitions apply to the organization's next requests.
const spread = async (deps: RequestRowDependencies, organization: string): Promise<void> => {
  const nowMs = deps.now();
  const { partitions } = deps.requestRows;
  const wanted = Math.min(MAX_PARTITIONS, Math.ceil((await rateOf(deps, organization, nowMs)) / MAX_ROWS_PER_SECOND));
  const days = new Set([dayOf(nowMs), dayOf(nowMs + BEFORE_MIDNIGHT_MS)]);
  for (const day of days) {
    const steps = await partitions.get(organization, day);
    const current = steps.at(-1)?.partitions ?? 1;
    if (wanted > current) await partitions.grow({ organization, day, nowMs }, steps, wanted);
  }
};

/**
 * Writes the rows of the requests in a batch of the usage stream. It can be repeated: a row depends only on its event.
 * @throws AggregateError if some were not written; all others are
 */
export const writeRequestRows = async (
  deps: RequestRowDependencies,
  records: readonly DynamoDBRecord[],
  hasTime?: () => boolean,
): Promise<void> => {
  const rows = rowsOf(records, deps.now());
  const writer = deps.requestRows.writer();
  const failures = await inParallel(rows, PUTS_AT_ONCE, writer.put, hasTime);
  failures.push(...(await inParallel(busyIn(rows), 1, (organization) => spread(deps, organization), hasTime)));
  throwFailures(failures);
};
