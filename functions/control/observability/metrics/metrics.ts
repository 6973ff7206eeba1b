import { InvalidRequest } from '../../../../shared/http/errors.ts';
import type { RefusalStore } from '../../../../shared/observability/refusal-store.ts';
import { SPAN_MS } from '../../../../shared/usage/organization-totals.ts';
import type { OrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import type { Actor } from '../../access/actor.ts';
import { detailOf, type Filters, isNone, matches, namesOf, type UsageDimension } from '../../query/group-usage.ts';
import { organizationsOf, type ScopeDependencies, scopeOf, type UsageScope } from '../../query/scope.ts';
import { dimensionsOf, filtersOf } from '../../query/usage-query.ts';
import type { MetricsQuery } from './metrics-query.ts';
import { metricsOf } from './metrics-resource.ts';
import { createSeries, type MetricsSeries } from './metrics-series.ts';
import { type MetricsWindow, metricsWindowOf } from './metrics-window.ts';

export interface MetricsDependencies extends ScopeDependencies {
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
  refusals: Pick<RefusalStore, 'list'>;
}

/** A query that would read more is rejected. */
export const MAX_ROWS = 20_000;
const MAX_ORGANIZATIONS = 1_000;
const ORGANIZATIONS_AT_ONCE = 16;
// Refusals are read by organization and day.
const MAX_REFUSAL_DAYS = 5_000;
// A function can reply with 6 MB.
const MAX_REPLY_BYTES = 5_500_000;
// The largest point in JSON without its error codes; the second is for each of its codes.
const POINT_BYTES = 630;
const CODE_BYTES = 50;

const NO_NAMES = { project_id: null, user_id: null, model: null, route: null, deployment: null, alias: null, side: null, line_item: null };

const tooMuch = (what: string): InvalidRequest =>
  new InvalidRequest({ param: null, message: `The query ${what}. Use a shorter window, a coarser 'resolution', or fewer groups.` });

const allOrganizations = async (deps: ScopeDependencies, scope: UsageScope): Promise<string[]> => {
  const all: string[] = [];
  for (let after: string | undefined; ; ) {
    const { ids, next } = await organizationsOf(deps, scope, after);
    all.push(...ids);
    if (next === null) return all;
    if (all.length >= MAX_ORGANIZATIONS)
      throw new InvalidRequest({
        param: 'organization',
        message: `'organization' is required: there are more than ${MAX_ORGANIZATIONS} organizations. Set it to the id of one.`,
      });
    after = next;
  }
};

// Refused requests are stored by organization and key only, and each day of an organization is a query.
const haveRefusals = (names: readonly string[], organizations: number, { fromMs, toMs }: MetricsWindow): boolean =>
  names.every((name) => name === 'organization' || name === 'api_key_id') &&
  organizations * Math.ceil((toMs - fromMs) / SPAN_MS.day) <= MAX_REFUSAL_DAYS;

interface Reading {
  window: MetricsWindow;
  filters: Filters;
  groupBy: readonly UsageDimension[];
  hasRefusals: boolean;
}

const readSeries = async (deps: MetricsDependencies, ids: readonly (string | null)[], reading: Reading): Promise<MetricsSeries[]> => {
  const { filters, groupBy } = reading;
  const { span, fromMs, toMs } = reading.window;
  const series = createSeries(groupBy);
  let rows = 0;
  const countRow = (): void => {
    if (++rows > MAX_ROWS) throw tooMuch(`reads more than ${MAX_ROWS} rows`);
  };
  const readTotals = async (organization: string): Promise<void> => {
    const detail = detailOf(groupBy, filters);
    for await (const totals of deps.organizationTotals.list({ organization, span, detail, fromMs, toMs })) {
      countRow();
      const by = namesOf(totals);
      if (matches(filters, { by })) series.addTotals(by, totals.startMs, totals.totals);
    }
  };
  const readRefusals = async (organization: string | null): Promise<void> => {
    if (!reading.hasRefusals) return;
    for await (const { startMs, keyId, code, count } of deps.refusals.list({ organization, fromMs, toMs })) {
      countRow();
      const by = { ...NO_NAMES, organization, api_key_id: keyId };
      if (matches(filters, { by })) series.addRefusals(by, Math.floor(startMs / SPAN_MS[span]) * SPAN_MS[span], code, count);
    }
  };
  for (let i = 0; i < ids.length; i += ORGANIZATIONS_AT_ONCE) {
    const some = ids.slice(i, i + ORGANIZATIONS_AT_ONCE);
    await Promise.all(some.flatMap((id) => [...(id === null ? [] : [readTotals(id)]), readRefusals(id)]));
  }
  return series.list();
};

const checkSize = (series: readonly MetricsSeries[]): void => {
  let bytes = 0;
  for (const { points } of series)
    for (const { totals, refusals } of points.values()) bytes += POINT_BYTES + CODE_BYTES * (totals.errors.size + refusals.size);
  if (bytes > MAX_REPLY_BYTES) throw tooMuch('has a reply of more than 5 MB');
};

/** Returns metrics of the requests that an actor can see, in points of time. @throws 400, 404 */
export const metrics = async (deps: MetricsDependencies, actor: Actor, query: MetricsQuery) => {
  const { nowMs } = actor.origin;
  const window = metricsWindowOf(query, nowMs);
  const scope = await scopeOf(deps, actor, query.organization);
  const filters = filtersOf(query, scope);
  const groupBy = dimensionsOf(query.group_by);
  const ids: (string | null)[] = isNone(filters) ? [] : await allOrganizations(deps, scope);
  if (scope.organization === null) ids.push(null);
  const hasRefusals = haveRefusals([...groupBy, ...Object.keys(filters)], ids.length, window);
  const series = await readSeries(deps, ids, { window, filters, groupBy, hasRefusals });
  checkSize(series);
  return metricsOf(window, series, { nowMs, hasRefusals });
};
