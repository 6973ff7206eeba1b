import type { Actor } from '../../../../functions/control/access/actor.ts';
import type { StoredApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import type { Organization } from '../../../../functions/control/organizations/organization.ts';
import { inFlightOf } from '../../../../shared/admission/item/limiter-item.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import { commit } from '../../../../shared/audit/commit.ts';
import type { Origin } from '../../../../shared/audit/origin.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';
import { listDaysOfUsage } from '../rebuild/days-of-usage.ts';
import { rebuild } from '../rebuild/rebuild-totals.ts';
import { deleteAliases, deleteTickets, deleteUsers, endKeys, renameProjects } from './delete-accounts.ts';
import { deleteIdentities } from './delete-identities.ts';
import { deleteItems } from './delete-items.ts';
import { deleteObjects } from './delete-objects.ts';
import { DELETED_NAME, type DeleteDataDependencies, type Deletion } from './deletion.ts';
import { itemsOf, objectsOf } from './owned.ts';
import { removePeople } from './remove-people.ts';

/** Deleted items by kind, or those that would be deleted. */
export interface DeletionReport {
  organization: string;
  /** With their secrets and federation rules. */
  service_accounts: number;
  /** With their client secrets, domains, SCIM tokens, groups and links to users. */
  identity_providers: number;
  users: number;
  /** Keys that are revoked, or that lose their name and metadata. */
  api_keys: number;
  tickets: number;
  model_aliases: number;
  /** Projects that lose their name. */
  projects: number;
  /** Webhooks, notifications, deliveries and emails. */
  notifications: number;
  /** Stored responses, and results under idempotency keys. */
  responses: number;
  /** Rows of requests, counts of refused ones, and settings of the payload log. */
  observability: number;
  exports: number;
  /** All versions of payloads, files of tickets, exports and weights. */
  files: number;
  billing_addresses: number;
  /** Usage events that lose what they have of people. */
  events: number;
}

/** An error that says what to do before the data can be deleted. */
export class NotReady extends Error {}

// Throws NotReady while requests or deployments can still add to the data.
const checkReady = async (
  { limiters, deployments }: DeleteDataDependencies,
  { id, status }: Organization,
  keys: readonly StoredApiKey[],
) => {
  if (status !== 'suspended') throw new NotReady(`${id} is active. Suspend it in the control plane first.`);
  const { deployments: left } = await deployments.list(id, { limit: 1 });
  if (left[0]) throw new NotReady(`${id} still has the deployment ${left[0].id}. Delete all of its deployments first.`);
  for (const owner of [id, ...keys.map((key) => key.id)])
    for (const item of await readAllShards(limiters, owner))
      if (inFlightOf(item) > 0)
        throw new NotReady(`${id} has requests in flight. Try again in a few minutes; a request can take up to ten.`);
};

const removeBillingAddresses = async ({ deps: { database, settings }, organization: { id }, isDeleting }: Deletion): Promise<number> => {
  const profile = await settings.getProfile(id);
  if (isDeleting && profile.emails.length > 0) await transact(database, settings.toReplaceProfile({ ...profile, emails: [] }, profile));
  return profile.emails.length;
};

// Totals by user come again from events without users; the other totals stay.
const rebuildTotals = async ({ deps, organization, keys }: Deletion): Promise<void> => {
  const shards = new Map(keys.map((key) => [key.id, key.shards]));
  for (const { day, keys: used } of await listDaysOfUsage(deps.database, deps.usageTable, (id) => shards.get(id))) {
    const own = used.filter((key) => key.organization === organization.id);
    if (own.length > 0) await rebuild(deps, day, own, deps.now);
  }
};

// Comes last, so the audit log never shows an interrupted deletion as complete.
const rename = async ({ deps, organization, operator }: Deletion): Promise<void> => {
  const { id } = organization;
  if (organization.name === DELETED_NAME) return;
  const renamed = { ...organization, name: DELETED_NAME, updated_at: unixSeconds(deps.now()) };
  const change = { action: 'organization.data_deleted', organization: id, target: { type: 'organization', id } };
  await commit(deps, operator.origin, change, [deps.organizations.toReplace(renamed)]);
};

/**
 * Deletes the data of an organization: its users, tickets, webhooks, contents, rows of requests, weights and exports,
 * and what its usage events have of people. What was billed, and the audit log, stay. It can be interrupted and
 * repeated; repeated, it finds nothing.
 * @param isDeleting false: everything is counted, and nothing changes
 * @throws NotReady if something can still add to the data; 404
 */
export const deleteData = async (
  deps: DeleteDataDependencies,
  origin: Origin,
  id: string,
  isDeleting: boolean,
): Promise<DeletionReport> => {
  const organization = await deps.organizations.get(id);
  const keys = await Array.fromAsync(deps.apiKeys.listAll(id));
  await checkReady(deps, organization, keys);
  const operator: Actor = { userId: `operator:${origin.actor.id}`, email: '', role: 'admin', organization: null, maxApiKeys: 0, origin };
  const deletion: Deletion = { deps, organization, keys, operator, isDeleting };
  const items = itemsOf(deletion);
  const deleted = (kind: keyof typeof items): Promise<number> => deleteItems(deps.database, items[kind], isDeleting);

  const report: DeletionReport = {
    organization: id,
    api_keys: await endKeys(deletion),
    ...(await deleteIdentities(deletion)),
    users: await deleteUsers(deletion),
    tickets: await deleteTickets(deletion),
    model_aliases: await deleteAliases(deletion),
    projects: await renameProjects(deletion),
    notifications: await deleted('notifications'),
    responses: await deleted('responses'),
    observability: await deleted('observability'),
    exports: await deleted('exports'),
    files: 0,
    billing_addresses: await removeBillingAddresses(deletion),
    events: await removePeople(deps.database, deps.usageTable, id, isDeleting),
  };
  for (const objects of objectsOf(deletion)) report.files += await deleteObjects(deps.s3, objects, isDeleting);
  if (isDeleting) {
    await rebuildTotals(deletion);
    await rename(deletion);
  }
  return report;
};
