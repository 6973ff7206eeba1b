import { ownerIdOf } from '../../shared/admission/item/shards.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { dayOf } from '../../shared/time/utc.ts';
import type { Bucket } from '../../shared/usage/bucket.ts';
import type { DeploymentDayStore } from '../../shared/usage/deployment-day-store.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import {
  DETAILS,
  type Detail,
  isExpired,
  type OrganizationTotals,
  SPAN_MS,
  type TotalsSpan,
} from '../../shared/usage/organization-totals.ts';
import { type OrganizationTotalsStore, type TotalsRow, totalsRowId } from '../../shared/usage/organization-totals-store.ts';
import type { UsedOwners } from './alerts.ts';
import { deploymentUsageOf } from './deployment-days.ts';
import { createMinutesOfBucket, rowsOf } from './organization-rows.ts';

export interface OrganizationRollups {
  totals: OrganizationTotalsStore;
  /** Absent: the days of deployments are not recorded. */
  deploymentDays?: DeploymentDayStore;
  /** The most users with totals of their own in a span. Default: `MAX_USERS`. */
  maxUsers?: number;
  /** ms since the epoch. Absent: nothing has expired. */
  now?: () => number;
}

interface Touched {
  organization: string;
  startMs: number;
}

// Rows count as removed this long before they expire, because the clocks of functions differ.
const CLOCKS_MS = 60 * 60_000;

/**
 * Returns true if the ten-minute rows of a UTC day may have been removed, so that longer spans can't be summed from
 * them any more.
 */
export const hasLostParts = ({ now }: Pick<OrganizationRollups, 'now'>, day: string): boolean =>
  now !== undefined && isExpired('ten_minutes', Date.parse(day), now() + CLOCKS_MS);

const PUTS_AT_ONCE = 8;

const rangeOf = (span: TotalsSpan, startMs: number) => ({ fromMs: startMs, toMs: startMs + SPAN_MS[span] });

// Reading costs a fraction of a write that changes nothing.
const putChanged = async ({ totals, now }: OrganizationRollups, rows: readonly TotalsRow[], stored: Map<string, number>): Promise<void> => {
  const changed = rows.filter(
    (row) => row.totals.events > (stored.get(totalsRowId(row)) ?? 0) && !(now && isExpired(row.span, row.startMs, now())),
  );
  throwFailures(
    await inParallel(changed, PUTS_AT_ONCE, async (row) => {
      await totals.put(row);
    }),
  );
};

/**
 * Computes the rows of organizations that a batch of buckets changes: buckets first, then ten minutes and hours, then
 * days.
 */
export const createOrganizationRollup = (deps: OrganizationRollups) => {
  const { totals, maxUsers } = deps;
  const touched = new Map<string, Touched>();
  const owners = new Map<string, { keys: Set<string>; projects: Set<string> }>();
  const counts = new Map<string, Promise<Map<string, number>>>();

  const ownersIn = (organization: string) => {
    const used = owners.get(organization) ?? { keys: new Set(), projects: new Set() };
    owners.set(organization, used);
    return used;
  };

  // Read once for all buckets of the ten minutes in the batch.
  const finestCounts = (of: Touched): Promise<Map<string, number>> => {
    const id = `${of.organization} ${of.startMs}`;
    const read = counts.get(id) ?? countsOf(of, ['minute', 'ten_minutes'], ['user'], 'ten_minutes');
    counts.set(id, read);
    return read;
  };

  const countsOf = async (
    { organization, startMs }: Touched,
    spans: readonly TotalsSpan[],
    details: readonly Detail[],
    within: TotalsSpan,
  ) => {
    const queries = spans.flatMap((span) => details.map((detail) => ({ organization, span, detail, ...rangeOf(within, startMs) })));
    return new Map((await Promise.all(queries.map(totals.listCounts))).flatMap((stored) => [...stored]));
  };

  const sum = async (
    of: Touched,
    from: TotalsSpan,
    to: TotalsSpan,
    details: readonly Detail[],
    within: TotalsSpan = to,
  ): Promise<readonly OrganizationTotals[]> => {
    const { organization, startMs } = of;
    const parts = await Array.fromAsync(totals.list({ organization, span: from, detail: 'user', ...rangeOf(within, startMs) }));
    await putChanged(deps, rowsOf(parts, { span: to, details, maxUsers }), await countsOf(of, [to], details, within));
    return parts;
  };

  return {
    /** Collects the events of a bucket. */
    ofBucket: (bucket: Bucket) => {
      const minutes = createMinutesOfBucket(bucket);
      return {
        observe: async function* (events: AsyncIterable<UsageEvent>): AsyncGenerator<UsageEvent> {
          for await (const event of events) {
            minutes.add(event);
            if (event.project_id !== undefined) ownersIn(event.org_id).projects.add(event.project_id);
            yield event;
          }
        },
        /** Writes the bucket's own rows. */
        write: async (): Promise<void> => {
          for (const organization of minutes.organizations()) {
            const of = { organization, startMs: bucket.startMs };
            touched.set(`${organization} ${bucket.startMs}`, of);
            ownersIn(organization).keys.add(ownerIdOf(bucket.shard));
            await putChanged(deps, minutes.rows(organization, maxUsers), await finestCounts(of));
          }
        },
      };
    },

    /** The keys and projects of the buckets by organization, for which alerts are due. */
    owners: (): ReadonlyMap<string, UsedOwners> => owners,

    /** The spans of this kind that the buckets belong to. */
    touched: (span: TotalsSpan): Touched[] => {
      const spanMs = SPAN_MS[span];
      const spans = [...touched.values()].map(({ organization, startMs }) => ({
        organization,
        startMs: Math.floor(startMs / spanMs) * spanMs,
      }));
      return [...new Map(spans.map((each) => [`${each.organization} ${each.startMs}`, each])).values()];
    },

    /** Sums the totals of ten minutes, and of their minutes, again. */
    sumTenMinutes: async (of: Touched): Promise<void> => {
      await sum(of, 'minute', 'minute', ['model', 'key'], 'ten_minutes');
      await sum(of, 'ten_minutes', 'ten_minutes', ['model', 'key']);
    },
    sumHour: async (of: Touched): Promise<void> => {
      if (!hasLostParts(deps, dayOf(of.startMs))) await sum(of, 'ten_minutes', 'hour', DETAILS);
    },
    sumDay: async (of: Touched): Promise<void> => {
      if (hasLostParts(deps, dayOf(of.startMs))) return;
      const hours = await sum(of, 'hour', 'day', DETAILS);
      for (const usage of deps.deploymentDays ? deploymentUsageOf(hours) : []) await deps.deploymentDays?.putUsage(usage);
    },
  };
};
