import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { InvalidRequest, ResourceNotFound } from '../../../shared/http/errors.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { DeploymentDayStore, DeploymentUsage } from '../../../shared/usage/deployment-day-store.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import type { CurrencyReads } from '../billing/currency.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import type { DayRange, EconomicsQuery } from './economics-query.ts';
import { type EconomicsSums, NO_USAGE, type ServedUsage, sumsOfDeployment, sumsWithoutDeployment, usageSum } from './economics-sums.ts';
import { type InstanceCosts, instanceTimeOf } from './instance-time.ts';

export interface EconomicsDependencies extends CurrencyReads {
  organizations: Pick<OrganizationStore, 'get' | 'list'>;
  deployments: Pick<DeploymentStore, 'get' | 'find'>;
  gpuEvents: Pick<GpuEventStore, 'listDays' | 'listByDeployment'>;
  deploymentDays: Pick<DeploymentDayStore, 'read'>;
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
  catalogue: Pick<CatalogueStore, 'costs'>;
}

/** The sums of a UTC day, of one deployment, or of a model's requests that no deployment served. */
export interface EconomicsDay {
  day: string;
  /** The owner of the deployment, or else of the requests. */
  organization: string;
  deployment: string | null;
  /** The name that the deployment serves, or else the model of the requests; null: it is not known. */
  model: string | null;
  sums: EconomicsSums;
}

// Each is a query of about a hundred events: so many take some seconds.
const MAX_DEPLOYMENT_DAYS = 1_000;
const DAYS_AT_ONCE = 24;
const ORGANIZATIONS_PER_PAGE = 20;

interface Scope extends DayRange {
  organization: string;
  deployment: string | undefined;
  /** The owner sees only its own requests, and only its deployments. */
  isOwner: boolean;
  costs: InstanceCosts;
}

interface DaysOfDeployment {
  id: string;
  name: string;
  days: Set<string>;
}

const deploymentsIn = async ({ gpuEvents }: EconomicsDependencies, { organization, deployment, from, to }: Scope) => {
  const found = new Map<string, DaysOfDeployment>();
  let days = 0;
  for await (const { day, deploymentId: id, name } of gpuEvents.listDays(organization, from, dayOf(Date.parse(to) - DAY_MS))) {
    if (deployment !== undefined && id !== deployment) continue;
    const of = found.get(id) ?? { id, name, days: new Set() };
    if (!of.days.has(day)) days++;
    found.set(id, { ...of, name, days: of.days.add(day) });
  }
  if (days > MAX_DEPLOYMENT_DAYS)
    throw new InvalidRequest({
      param: 'from',
      message: `The deployments of '${organization}' ran on ${days} days in total, and at most ${MAX_DEPLOYMENT_DAYS} can be read at once. Choose fewer days or one 'deployment'.`,
    });
  return { deployments: [...found.values()], days };
};

const servedOf = ({ totals }: Pick<DeploymentUsage, 'totals'>): ServedUsage => ({
  requests: totals.requests,
  promptTokens: totals.prompt_tokens,
  cachedTokens: totals.cached_tokens,
  completionTokens: totals.completion_tokens,
  soldNanos: totals.cost_nanos,
  promptMs: totals.prompt_ms_sum,
  generationMs: totals.generation_ms_sum,
});

const daysOf = async (
  { gpuEvents, deploymentDays }: EconomicsDependencies,
  { organization, isOwner, costs, from, to }: Scope,
  { id, name, days }: DaysOfDeployment,
  add: (work: () => Promise<EconomicsDay>) => void,
): Promise<void> => {
  const { usage, busy } = await deploymentDays.read(id, from, to);
  const served = new Map<string, ServedUsage>();
  for (const each of usage)
    if (!isOwner || each.organization === organization) served.set(each.day, usageSum(served.get(each.day) ?? NO_USAGE, servedOf(each)));
  for (const day of new Set([...days, ...served.keys()]))
    add(async () => {
      const events = days.has(day) ? await Array.fromAsync(gpuEvents.listByDeployment(id, day, day)) : [];
      const time = instanceTimeOf(events, costs, busy);
      return { day, organization, deployment: id, model: name, sums: sumsOfDeployment(time, served.get(day) ?? NO_USAGE) };
    });
};

const withoutDeployment = async (
  { organizationTotals }: EconomicsDependencies,
  { organization, from, to }: Scope,
): Promise<EconomicsDay[]> => {
  const days: EconomicsDay[] = [];
  const range = { fromMs: Date.parse(from), toMs: Date.parse(to) };
  for await (const { startMs, deployment, model, totals } of organizationTotals.list({
    organization,
    span: 'day',
    detail: 'model',
    ...range,
  }))
    if (deployment === null)
      days.push({ day: dayOf(startMs), organization, deployment, model, sums: sumsWithoutDeployment(servedOf({ totals })) });
  return days;
};

const readOrganization = async (deps: EconomicsDependencies, scope: Scope): Promise<{ days: EconomicsDay[]; read: number }> => {
  const { deployments, days: read } = await deploymentsIn(deps, scope);
  const work: (() => Promise<EconomicsDay>)[] = [];
  throwFailures(await inParallel(deployments, DAYS_AT_ONCE, (each) => daysOf(deps, scope, each, (day) => work.push(day))));
  const days: EconomicsDay[] = [];
  throwFailures(await inParallel(work, DAYS_AT_ONCE, async (day) => void days.push(await day())));
  // A deployment's owner is charged for GPU time, and an organization's other usage is in its costs.
  const others = scope.isOwner || scope.deployment !== undefined ? [] : await withoutDeployment(deps, scope);
  return { days: [...days, ...others], read: read + others.length };
};

// The organization of the query, if it is about one.
const organizationOf = async (deps: EconomicsDependencies, actor: Actor, { organization, deployment }: EconomicsQuery) => {
  const own = isOfPlatform(actor) ? organization : organizationFor(actor, organization);
  if (own !== undefined && isOfPlatform(actor)) await deps.organizations.get(own);
  if (deployment === undefined) return own;
  if (own !== undefined) return (await deps.deployments.get(own, deployment)).organization;
  const found = await deps.deployments.find(deployment);
  if (!found) throw new ResourceNotFound('deployment', deployment);
  return found.organization;
};

/**
 * Reads the days of the deployments that an actor can see. For all organizations, a page has all days of some of them,
 * so that the rows of an organization are complete.
 * @throws 400, 404
 */
export const readEconomics = async (
  deps: EconomicsDependencies,
  actor: Actor,
  query: EconomicsQuery,
  range: DayRange,
): Promise<{ days: EconomicsDay[]; next: string | null }> => {
  const isOwner = !isOfPlatform(actor);
  const one = await organizationOf(deps, actor, query);
  const costs: InstanceCosts = isOwner ? new Map() : await deps.catalogue.costs();
  const scopeOf = (organization: string): Scope => ({ ...range, organization, deployment: query.deployment, isOwner, costs });
  if (one !== undefined) return { days: (await readOrganization(deps, scopeOf(one))).days, next: null };

  const page = await deps.organizations.list({ limit: ORGANIZATIONS_PER_PAGE, after: query.after });
  const days: EconomicsDay[] = [];
  let room = MAX_DEPLOYMENT_DAYS;
  for (const [i, { id }] of page.data.entries()) {
    const read = await readOrganization(deps, scopeOf(id));
    days.push(...read.days);
    room -= read.read;
    if (room <= 0 && i < page.data.length - 1) return { days, next: id };
  }
  return { days, next: page.next };
};
