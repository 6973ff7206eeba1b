import { ModelNotAllowed } from '../../../shared/admission/item/key-errors.ts';
import {
  assumedShard,
  isOrganizationLimited,
  isPayloadLogged,
  type KeyItem,
  mayFallBack,
  mayStore,
  usableShardsOf,
  userLimitsOf,
} from '../../../shared/admission/item/key-item.ts';
import { countsMoney, type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { checkOrganization } from '../../../shared/admission/item/organization.ts';
import { deploymentMark } from '../../../shared/admission/item/reservation-entry.ts';
import { ownerIdOf, shardOf, wholeId } from '../../../shared/admission/item/shards.ts';
import { type AuthenticatedKey, checkKey, isModelAllowed, REFUSAL_MS, resolveKey } from '../../../shared/admission/keys/authenticate.ts';
import { limitHeaders } from '../../../shared/admission/keys/rate-limits.ts';
import type { Used } from '../../../shared/admission/plans/reservation-end.ts';
import { endReservations, type Reservation } from '../../../shared/admission/stores/reservation.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { growIfBusy } from './grow-organization.ts';
import type { Owner } from './limit-errors.ts';
import { checkProject, isProjectLimited } from './project.ts';
import { amountsOf, checkRememberedOwners, rejection } from './rejection.ts';
import type { Known, Limiters, RefusedBy, Reserved } from './reserve.ts';
import type { SharedReservation } from './reserve-anywhere.ts';
import { reserveInShards } from './reserve-in-shards.ts';
import { reserveOwner } from './reserve-owner.ts';
import { canBeTooNew, checkNotNew, reserveUser } from './reserve-user.ts';
import { limitedUser, userFieldOf } from './user.ts';

export type Keys = Limiters;

// A key can get another project during its admission.
const MAX_PROJECT_CHANGES = 3;

class OtherProject extends Error {
  readonly projectId: string;

  constructor(projectId: string) {
    super(`The key belongs to the project ${projectId} now.`);
    this.projectId = projectId;
  }
}

/** A request in flight: its reservations are durable before the upstream is called. */
export interface Admission {
  requestId: string;
  keyId: string;
  organization: string;
  /** Number of the key's shards; its usage events are spread over them. */
  shards: number;
  admittedAtMs: number;
  /** The maximum charge in nano-dollars; undefined if no money is limited. */
  holdNanos: bigint | undefined;
  isPrepaid: boolean;
  /** False if the key forbids storing content. */
  mayStore: boolean;
  /** True if another model may answer in place of the one that the request names. */
  mayFallBack: (model: string) => boolean;
  /** True if the key's content is logged; the caller can still switch it off for a request. */
  isPayloadLogged: boolean;
  /** In the key's limiter, then in those of its end user, its project and its organization. */
  reservations: readonly Reservation[];
  /** DynamoDB round trips of the admission. */
  roundTrips: number;
  /** Settles when the organization has its new shards, if it gets any; the release waits for it. */
  growth: Promise<unknown> | undefined;
  headers: Record<string, string>;
}

/** @throws 403 if the model is not on the key's allow-list */
export const checkModel = (item: KeyItem, model: string, nowMs: number): void => {
  if (!isModelAllowed(item, model)) throw new ModelNotAllowed(model, limitHeaders([item], nowMs));
};

const modelsOf = ({ model, otherModels = [] }: AdmissionRequest): string[] => [model, ...otherModels];

const checkRequest = (item: KeyItem, request: AdmissionRequest, nowMs: number): void => {
  for (const model of modelsOf(request)) checkModel(item, model, nowMs);
  limitedUser(item, request, nowMs);
};

// The last image of a shard, or a guess from the key's own item. Budgets aren't divided equally, so a shard with money
// is read.
const knownShard = async ({ cache, store }: Limiters, limiterId: string, { item }: AuthenticatedKey): Promise<Known> => {
  const seen = cache.get(limiterId)?.item;
  if (seen && seen.cfg === item.cfg) return { item: seen, isExact: false };
  return countsMoney(item) ? { item: await store.get(limiterId), isExact: true } : { item: assumedShard(item, limiterId), isExact: false };
};

// In one of the key's shards. @param projects those that are known, and if they have limiters
const keyReservation = (
  limiters: Limiters,
  request: AdmissionRequest,
  authenticated: AuthenticatedKey,
  projects: ReadonlyMap<string, boolean>,
): SharedReservation<KeyItem> => {
  const { key, deployment, isFree } = request;
  const { item, isRead } = authenticated;
  const shards = usableShardsOf(item);
  return {
    ...amountsOf(request),
    ownerId: key.keyId,
    own: { item, isExact: isRead },
    shards,
    first: shardOf(request.requestId, shards),
    knownOf: (limiterId) => knownShard(limiters, limiterId, authenticated),
    isGrowing: false,
    linkOf: isOrganizationLimited,
    deployment: deployment && deploymentMark(deployment),
    chainOf: (one) => {
      const hash = limitedUser(one, request, limiters.now());
      const isInProject = !isFree && one.prj !== undefined && projects.get(one.prj) === true;
      return { ...(hash !== undefined && { user: hash }), ...(isInProject && { project: one.prj as string }) };
    },
    check: (one, nowMs) => {
      const checked = checkKey(key, one, nowMs);
      checkRequest(checked, request, nowMs);
      if (!isFree && checked.prj !== undefined && !projects.has(checked.prj)) throw new OtherProject(checked.prj);
      return checked;
    },
  };
};

// Before the write, whose entry names the project, it must be known if the project has a limiter.
const reserveKey = async (limiters: Limiters, request: AdmissionRequest, authenticated: AuthenticatedKey): Promise<Reserved<KeyItem>> => {
  const { prj } = authenticated.item;
  const projects = new Map<string, boolean>();
  if (prj !== undefined && !request.isFree) projects.set(prj, await isProjectLimited(limiters, prj));
  for (let change = 0; change < MAX_PROJECT_CHANGES; change++) {
    try {
      const result = await reserveInShards(limiters, keyReservation(limiters, request, authenticated, projects));
      if ('refusal' in result) throw rejection('key', request, result);
      return result;
    } catch (error) {
      if (!(error instanceof OtherProject)) throw error;
      projects.set(error.projectId, await isProjectLimited(limiters, error.projectId));
    }
  }
  throw new ServiceUnavailable();
};

// If this fails, the sweep undoes the reservation later.
const undo = async (
  { store, now }: Limiters,
  { requestId }: AdmissionRequest,
  reservations: readonly Reservation[],
  { id, org }: KeyItem,
): Promise<void> => {
  try {
    await endReservations(store, reservations, { requestId, used: 'undone', nowMs: now() });
  } catch (error) {
    logError('undo_failed', error, { request_id: requestId, org_id: org, limiter_id: id });
  }
};

// An organization that was seen suspended at most 5 s ago is rejected without a call.
const checkSeen = ({ cache, now }: Limiters, organization: string): void => {
  const seen = cache.get(organization);
  if (seen?.item && now() - seen.seenAtMs < REFUSAL_MS) checkOrganization(seen.item);
};

// A cached item that doesn't allow the request is read again, because its settings can have changed.
const resolveAllowedKey = async (limiters: Limiters, request: AdmissionRequest): Promise<AuthenticatedKey> => {
  const { key, user, isFree, authenticated } = request;
  const isAllowed = ({ item }: AuthenticatedKey): boolean =>
    modelsOf(request).every((model) => isModelAllowed(item, model)) && (isFree || Boolean(user) || !userLimitsOf(item));
  return authenticated && isAllowed(authenticated)
    ? authenticated
    : resolveKey(limiters, key, Number.POSITIVE_INFINITY, (item) => checkRequest(item, request, limiters.now()));
};

interface Step {
  owner: Owner;
  reserve: () => Promise<Reserved<LimiterItem> | RefusedBy<LimiterItem>>;
}

// The limiters that the key's entry names, in which the request must be reserved, too.
const stepsAfterKey = (limiters: Limiters, request: AdmissionRequest, { item, entry }: Reserved<KeyItem>): Step[] => {
  const amounts = amountsOf(request);
  const { user, project, link } = entry;
  const keyLimiterId = item.id;
  const steps: Step[] = [];
  if (user !== undefined) steps.push({ owner: 'user', reserve: () => reserveUser(limiters, amounts, item, user, userFieldOf(request)) });
  if (project !== undefined) {
    const owner = { ownerId: project, keyLimiterId, check: checkProject };
    steps.push({ owner: 'project', reserve: () => reserveOwner(limiters, amounts, owner) });
  }
  if (link) {
    const owner = { ownerId: item.org, keyLimiterId, check: checkOrganization };
    steps.push({ owner: 'organization', reserve: () => reserveOwner(limiters, amounts, owner) });
  }
  return steps;
};

/**
 * Admits a request: reserves it in its key's limiter, and then in those of its end user, its project and its
 * organization, if they have limits. Usually this is one conditional write each.
 * @throws 400, 401, 403, 429: nothing is in flight; 503: the sweep ends what may be in flight
 */
export const admit = async (limiters: Keys, request: AdmissionRequest): Promise<Admission> => {
  const { requestId } = request;
  const authenticated = await resolveAllowedKey(limiters, request);
  checkRememberedOwners(limiters, request, authenticated.item);
  if (isOrganizationLimited(authenticated.item)) checkSeen(limiters, authenticated.item.org);
  const user = limitedUser(authenticated.item, request, limiters.now());
  if (user !== undefined && canBeTooNew(limiters, authenticated.item, user))
    await checkNotNew(limiters, authenticated.item, user, userFieldOf(request));

  const key = await reserveKey(limiters, request, authenticated);
  const { item } = key;
  const own: Reservation = { limiterId: item.id, item, entry: key.entry };
  const reservations = [own];
  let { roundTrips } = key;
  const growths: Promise<unknown>[] = [];
  try {
    for (const { owner, reserve } of stepsAfterKey(limiters, request, key)) {
      const result = await reserve();
      if ('refusal' in result) throw rejection(owner, request, result, item);
      reservations.push({ limiterId: result.item.id, item: result.item, entry: result.entry });
      roundTrips += result.roundTrips;
      const growth = owner === 'user' ? undefined : growIfBusy(limiters, ownerIdOf(result.item.id), result.item);
      if (growth) growths.push(growth);
    }
  } catch (error) {
    await undo(limiters, request, reservations, item);
    throw error;
  }
  const holds = reservations.flatMap((one) => (countsMoney(one.item) ? [one.entry.holdNanos] : []));
  return {
    requestId,
    keyId: request.key.keyId,
    organization: item.org,
    shards: shardsOf(item),
    admittedAtMs: key.entry.admittedAtMs,
    holdNanos: holds.toSorted((one, other) => Number(one - other))[0],
    mayStore: mayStore(item),
    mayFallBack: (model) => mayFallBack(item) && isModelAllowed(item, model),
    isPayloadLogged: isPayloadLogged(item),
    isPrepaid: reservations.some(({ entry }) => entry.isFromCredit),
    reservations,
    roundTrips,
    growth: growths.length > 0 ? Promise.all(growths) : undefined,
    headers: limitHeaders(
      reservations.map((one) => one.item),
      key.nowMs,
    ),
  };
};

/**
 * Releases a request's reservations based on what it used. Idempotent.
 * @param used `undone`: the request leaves no trace in the limits
 */
export const release = async (
  { store, cache, now }: Keys,
  { requestId, reservations, growth }: Admission,
  used: Used | 'undone',
): Promise<void> => {
  await endReservations(store, reservations, { requestId, used, nowMs: now() });
  for (const { limiterId } of reservations) {
    cache.forgetRefusal(limiterId);
    cache.forgetRefusal(wholeId(ownerIdOf(limiterId)));
  }
  await growth;
};
