import { type AuditDependencies, commit } from '../../../../shared/audit/commit.ts';
import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { messageStep, type Rerate, type ReratePhase, totalsOf } from '../../../../shared/billing/rerate.ts';
import { RerateAlreadyCreated, type RerateStore } from '../../../../shared/billing/rerate-store.ts';
import { transact, type Write } from '../../../../shared/database/transaction.ts';
import { Conflict, InvalidValue, ResourceNotFound } from '../../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../../shared/http/idempotency-key.ts';
import type { Page, PageRequest } from '../../../../shared/http/page.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { Actor } from '../../access/actor.ts';
import type { OrganizationStore } from '../../organizations/organization-store.ts';
import { sendTask } from '../send-task.ts';
import { findPrices, type PriceLookup } from './find-prices.ts';
import { isComplete, type NewRerate, type PhaseFacts, progressToWire, type RerateResource, toResource } from './rerate-resource.ts';

export interface RerateRouteDependencies extends AuditDependencies, PriceLookup {
  organizations: Pick<OrganizationStore, 'get'>;
  rerates: RerateStore;
  billingTasks: BillingTasks;
}

// The most days of GPU time that can be listed at once.
const MAX_DAYS = 365;
// By then, all requests have ended and are settled.
const SETTLED_MS = HOUR_MS;

const checkTimes = ({ start_time, end_time }: NewRerate, nowMs: number): void => {
  const reject = (expected: string): never => {
    throw new InvalidValue('end_time', `expected a time ${expected}`);
  };
  if (end_time * SECOND_MS > nowMs - SETTLED_MS) reject('at least an hour in the past. Later requests can still be running');
  if ((end_time - start_time) * SECOND_MS > MAX_DAYS * DAY_MS)
    reject(`at most ${MAX_DAYS} days after 'start_time'. Create several rerates`);
};

// The organizations are read if an earlier release began the phase.
const phaseFacts = async (
  { rerates }: Pick<RerateRouteDependencies, 'rerates'>,
  { id, organization }: Rerate,
  phase: ReratePhase,
): Promise<PhaseFacts> => ({
  organizations: organization === null ? await rerates.extent(id, phase) : 1,
  totals: (await rerates.totals(id, phase)) ?? totalsOf(await Array.fromAsync(rerates.allProgress(id, phase))),
});

const describe = async (deps: Pick<RerateRouteDependencies, 'rerates'>, rerate: Rerate): Promise<RerateResource> =>
  toResource(
    rerate,
    await phaseFacts(deps, rerate, 'preview'),
    rerate.phase === 'execution' ? await phaseFacts(deps, rerate, 'execution') : undefined,
  );

// The task of a rerate of all organizations sends one for each of them.
const begin = (deps: RerateRouteDependencies, { id, organization, phase }: Rerate, nowMs: number): Promise<void> =>
  sendTask(deps, { task: 'rerate', organization: organization ?? 'platform', rerate: id }, nowMs, messageStep(phase, 0));

// Only an execution is recorded in the audit log: a preview changes nothing.
const write = async (deps: RerateRouteDependencies, { origin }: Actor, rerate: Rerate, writes: readonly Write[]): Promise<void> => {
  if (rerate.phase === 'preview') return transact(deps.database, writes);
  const { id, subject, start_time, end_time, organization, reason } = rerate;
  const after = { [subject.kind]: subject.name, from_version: subject.from.version, to_version: subject.to.version, start_time, end_time };
  const change = { action: 'rerate.executed', organization, target: { type: 'rerate', id }, reason, after };
  return commit(deps, origin, change, writes);
};

const isSame = (existing: Rerate, rerate: Rerate): boolean => {
  const textOf = ({ subject: { kind, name, from, to }, start_time, end_time, organization, reason, created_at, executed_at }: Rerate) => {
    // The phase changes when a preview is executed.
    const wasDryRun = executed_at !== created_at;
    return JSON.stringify([kind, name, from.version, to.version, start_time, end_time, organization, reason, wasDryRun]);
  };
  return textOf(existing) === textOf(rerate);
};

/**
 * Creates a rerate, and begins its preview (`dry_run`) or its execution. With an idempotency key that was used before,
 * returns the earlier one, and begins it if a crash has prevented that.
 * @throws 400 for times and versions, 404 for the organization, 422 if the key was used for another rerate, 503
 */
export const createRerate = async (
  deps: RerateRouteDependencies,
  actor: Actor,
  body: NewRerate,
  idempotencyKey?: string,
): Promise<RerateResource> => {
  const { origin } = actor;
  const { nowMs } = origin;
  checkTimes(body, nowMs);
  if (body.organization !== undefined) await deps.organizations.get(body.organization);
  const phase = body.dry_run ? 'preview' : 'execution';
  const rerate: Rerate = {
    id: newTimedId('rerate', nowMs),
    subject: await findPrices(deps, body),
    start_time: body.start_time * SECOND_MS,
    end_time: body.end_time * SECOND_MS,
    organization: body.organization ?? null,
    reason: body.reason,
    actor: origin.actor.id,
    created_at: nowMs,
    executed_at: phase === 'execution' ? nowMs : null,
    phase,
    version: 1,
  };
  const earlier = idempotencyKey === undefined ? undefined : await deps.rerates.getOnce(idempotencyKey);
  const stored = earlier ?? (await create(deps, actor, rerate, idempotencyKey));
  if (!isSame(stored, rerate)) throw new IdempotencyKeyReused();
  await begin(deps, stored, nowMs);
  return describe(deps, stored);
};

// A concurrent request can have created it with the same idempotency key.
const create = async (deps: RerateRouteDependencies, actor: Actor, rerate: Rerate, key: string | undefined): Promise<Rerate> => {
  try {
    await write(deps, actor, rerate, deps.rerates.toCreate(rerate, key));
    return rerate;
  } catch (error) {
    const stored = error instanceof RerateAlreadyCreated && key !== undefined ? await deps.rerates.getOnce(key) : undefined;
    if (!stored) throw error;
    return stored;
  }
};

const find = async ({ rerates }: Pick<RerateRouteDependencies, 'rerates'>, id: string): Promise<Rerate> => {
  const rerate = await rerates.get(id);
  if (!rerate) throw new ResourceNotFound('rerate', id);
  return rerate;
};

class PreviewRunning extends Conflict {
  constructor() {
    super({ code: 'preview_running', message: 'The preview is not complete. Wait until the state is `previewed`, and check its result.' });
  }
}

/**
 * Executes a previewed rerate; continues one that is being executed already.
 * @throws 404, 409, 412 after a concurrent change, 503
 */
export const executeRerate = async (deps: RerateRouteDependencies, actor: Actor, id: string): Promise<RerateResource> => {
  const { nowMs } = actor.origin;
  const before = await find(deps, id);
  if (before.phase === 'preview') {
    if (!isComplete(await phaseFacts(deps, before, 'preview'))) throw new PreviewRunning();
    const executed: Rerate = { ...before, phase: 'execution', executed_at: nowMs };
    await write(deps, actor, executed, deps.rerates.toExecute(executed));
  }
  const rerate = await find(deps, id);
  await begin(deps, rerate, nowMs);
  return describe(deps, rerate);
};

/** Returns a rerate with its progress. @throws 404 */
export const retrieveRerate = async (deps: Pick<RerateRouteDependencies, 'rerates'>, id: string): Promise<RerateResource> =>
  describe(deps, await find(deps, id));

/** Lists rerates, newest first. */
export const listRerates = async (deps: Pick<RerateRouteDependencies, 'rerates'>, request: PageRequest): Promise<Page<RerateResource>> => {
  const { data, ...page } = await deps.rerates.list(request);
  return { ...page, data: await Promise.all(data.map((rerate) => describe(deps, rerate))) };
};

/** Lists a rerate's effects by organization: of its execution, or else of its preview. @throws 404 */
export const listRerateOrganizations = async (deps: Pick<RerateRouteDependencies, 'rerates'>, id: string, request: PageRequest) => {
  const { phase } = await find(deps, id);
  const { data, ...page } = await deps.rerates.pageOfProgress(id, phase, request);
  return { ...page, data: data.map(progressToWire) };
};
