import { deploymentIdOf } from '../../shared/deployments/names.ts';
import { requestTimeMs } from '../../shared/ids/request-id.ts';
import type { Bucket } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { foldUsers, groupIdOf, groupTotals, type TotalsGroup } from '../../shared/usage/group-totals.ts';
import { type Detail, type OrganizationTotals, OTHER_USERS, SPAN_MS, type TotalsSpan } from '../../shared/usage/organization-totals.ts';
import type { TotalsRow } from '../../shared/usage/organization-totals-store.ts';
import { addEvent, noTotals } from '../../shared/usage/totals.ts';

/** Longer names of users count as `(other)`, which keeps a row small. `X-User-Id` has 36 characters. */
export const MAX_USER_CHARACTERS = 128;

const userOf = ({ user_id, user }: UsageEvent): string | null => {
  const name = user_id ?? user ?? null;
  return name !== null && name.length > MAX_USER_CHARACTERS ? OTHER_USERS : name;
};

const namesOf = (event: UsageEvent): Omit<TotalsGroup, 'totals'> => ({
  model: event.model ?? null,
  route: event.route ?? null,
  deployment: (event.endpoint !== undefined && deploymentIdOf(event.endpoint)) || null,
  ...(event.side && event.alias !== undefined && { split: { alias: event.alias, side: event.side } }),
  keyId: event.key_id,
  ...(event.project_id !== undefined && { projectId: event.project_id }),
  userId: userOf(event),
});

/** Collects a bucket's events by minute and user. */
export const createMinutesOfBucket = ({ shard, startMs }: Bucket) => {
  const minutes = new Map<string, Omit<TotalsGroup, 'lastUser'> & { organization: string; startMs: number }>();
  return {
    /** Adds an event. */
    add: (event: UsageEvent): void => {
      const names = namesOf(event);
      const minuteMs = Math.floor(requestTimeMs(event.request_id) / SPAN_MS.minute) * SPAN_MS.minute;
      const id = `${event.org_id} ${minuteMs} ${groupIdOf(names)}`;
      const sum = minutes.get(id) ?? { organization: event.org_id, startMs: minuteMs, ...names, totals: noTotals() };
      minutes.set(id, sum);
      addEvent(sum.totals, event);
    },

    /** The organizations of the events: one, because a key belongs to one. */
    organizations: (): string[] => [...new Set([...minutes.values()].map(({ organization }) => organization))],

    /**
     * The rows of the detail `user` for this bucket's shard, from which all other rows of its organization are made:
     * by minute, and for the ten minutes.
     */
    rows: (organization: string, maxUsers?: number): TotalsRow[] => {
      const own = [...minutes.values()].filter((minute) => minute.organization === organization);
      const inSpan = (span: TotalsSpan, spanMs: number, groups: readonly TotalsGroup[]): TotalsRow[] =>
        foldUsers(groups, maxUsers).map((group) => ({ ...group, organization, span, detail: 'user', startMs: spanMs, shard }));
      return [
        ...[...Map.groupBy(own, (minute) => minute.startMs)].flatMap(([minuteMs, groups]) => inSpan('minute', minuteMs, groups)),
        ...inSpan('ten_minutes', startMs, groupTotals(own, 'user')),
      ];
    },
  };
};

/**
 * The rows of spans of an organization by some details, from totals of the same spans, or of parts of them, in the
 * detail `user`.
 * @param totals of one organization
 */
export const rowsOf = (
  totals: readonly OrganizationTotals[],
  { span, details, maxUsers }: { span: TotalsSpan; details: readonly Detail[]; maxUsers?: number | undefined },
): TotalsRow[] => {
  const spanMs = SPAN_MS[span];
  return [...Map.groupBy(totals, ({ startMs }) => Math.floor(startMs / spanMs) * spanMs)].flatMap(([startMs, parts]) =>
    details.flatMap((detail) => {
      const [{ organization }] = parts as [OrganizationTotals];
      const groups = groupTotals(parts, detail);
      return (detail === 'user' ? foldUsers(groups, maxUsers) : groups).map((group) => ({ ...group, organization, span, detail, startMs }));
    }),
  );
};
