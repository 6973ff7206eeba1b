import type { Permission } from '../../../shared/hosts/permissions.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { idLike, prefixes } from '../../../shared/ids/id.ts';
import { type Actor, can, isOfPlatform } from '../access/actor.ts';
import { visibleKey } from '../api-keys/api-key-rights.ts';
import { visibleCreditNote } from '../billing/credit-notes/find-credit-note.ts';
import { visibleInvoice } from '../billing/invoices/find-invoice.ts';
import { visibleTicket } from '../tickets/ticket-access.ts';
import { visibleUser } from '../users/update-user.ts';
import { findRequest } from './find-request.ts';
import type { LookupDependencies } from './lookup-dependencies.ts';
import type { LookupMatch } from './lookup-resource.ts';

type Find = (deps: LookupDependencies, actor: Actor, id: string) => Promise<LookupMatch | undefined>;

interface Kind {
  prefixes: readonly string[];
  /** The permission of the routes of these resources. */
  permission: Permission;
  find: Find;
}

// The stores of some resources find them in the organization of the actor only.
const ofOrganization = async <Found>(
  actor: Actor,
  get: (organization: string) => Promise<Found | undefined>,
): Promise<Found | undefined> => (actor.organization === null ? undefined : get(actor.organization));

const findOrganization: Find = async ({ organizations }, actor, id) => {
  if (!isOfPlatform(actor) && id !== actor.organization) return undefined;
  const { name } = await organizations.get(id);
  return { object: 'organization', id, name, organization: id, url_path: `/v1/organizations/${id}` };
};

const findKey: Find = async (deps, actor, id) => {
  const { name, organization } = await visibleKey(deps, actor, id);
  return { object: 'api_key', id, name, organization, url_path: `/v1/api-keys/${id}` };
};

const findUser: Find = async (deps, actor, id) => {
  const { email, organization } = await visibleUser(deps, actor, id);
  return { object: 'user', id, name: email, organization, url_path: `/v1/users/${id}` };
};

const findServiceAccount: Find = async ({ users }, actor, id) => {
  const account = await users.get(id);
  if (account?.kind !== 'service_account' || !(isOfPlatform(actor) || account.organization === actor.organization)) return undefined;
  const { name, organization } = account;
  return { object: 'service_account', id, name, organization, url_path: `/v1/service-accounts/${id}` };
};

const findProvider: Find = async ({ identityProviders }, actor, id) => {
  const provider = await ofOrganization(actor, (organization) => identityProviders.find(organization, id));
  if (!provider) return undefined;
  const { name, organization } = provider;
  return { object: 'identity_provider', id, name, organization, url_path: `/v1/identity-providers/${id}` };
};

const findDeployment: Find = async ({ deployments }, actor, id) => {
  const deployment = await deployments.find(id);
  if (!deployment || !(isOfPlatform(actor) || deployment.organization === actor.organization)) return undefined;
  const { name, organization } = deployment;
  return { object: 'deployment', id, name, organization, url_path: `/v1/deployments/${id}` };
};

const findInvoice: Find = async (deps, actor, id) => {
  const { number, organization } = await visibleInvoice(deps, actor, id);
  return { object: 'invoice', id, name: number, organization, url_path: `/v1/billing/invoices/${id}` };
};

const findCreditNote: Find = async (deps, actor, id) => {
  const { number, organization } = await visibleCreditNote(deps, actor, id);
  return { object: 'credit_note', id, name: number, organization, url_path: `/v1/billing/credit-notes/${id}` };
};

const findExport: Find = async ({ exports }, actor, id) => {
  const found = await ofOrganization(actor, (organization) => exports.get(organization, id));
  return found && { object: 'export', id, name: null, organization: actor.organization, url_path: `/v1/billing/exports/${id}` };
};

const findWebhook: Find = async ({ webhooks }, actor, id) => {
  const webhook = await ofOrganization(actor, (organization) => webhooks.find(organization, id));
  if (!webhook) return undefined;
  const { description, organization } = webhook;
  return { object: 'webhook', id, name: description, organization, url_path: `/v1/webhooks/${id}` };
};

const findProject: Find = async ({ projects }, actor, id) => {
  const project = await ofOrganization(actor, (organization) => projects.find(organization, id));
  if (!project) return undefined;
  const { name, organization } = project;
  return { object: 'project', id, name, organization, url_path: `/v1/projects/${id}` };
};

const findTicket: Find = async (deps, actor, id) => {
  const { subject, organization } = await visibleTicket(deps, actor, id);
  return { object: 'ticket', id, name: subject, organization, url_path: `/v1/tickets/${id}` };
};

// The id of a reply is its request's with another prefix.
const REPLIES = [prefixes.chatCompletion, prefixes.completion, prefixes.response, prefixes.message];

const KINDS: readonly Kind[] = [
  { prefixes: [prefixes.organization], permission: 'organization:read', find: findOrganization },
  { prefixes: [prefixes.key], permission: 'keys:read', find: findKey },
  { prefixes: [prefixes.project], permission: 'projects:read', find: findProject },
  { prefixes: [prefixes.user], permission: 'users:read', find: findUser },
  { prefixes: [prefixes.user], permission: 'service_accounts:read', find: findServiceAccount },
  { prefixes: [prefixes.identityProvider], permission: 'identity_providers:read', find: findProvider },
  { prefixes: [prefixes.deployment], permission: 'deployments:read', find: findDeployment },
  { prefixes: [prefixes.invoice], permission: 'billing:read', find: findInvoice },
  { prefixes: [prefixes.creditNote], permission: 'billing:read', find: findCreditNote },
  { prefixes: [prefixes.export], permission: 'billing:read', find: findExport },
  { prefixes: [prefixes.webhook], permission: 'webhooks:read', find: findWebhook },
  { prefixes: [prefixes.ticket], permission: 'tickets:read', find: findTicket },
  {
    prefixes: [prefixes.request, ...REPLIES],
    permission: 'requests:read',
    find: (deps, actor, id) => findRequest(deps, actor, idLike('request', id)),
  },
];

const orNone = (error: unknown): undefined => {
  if (!(error instanceof ResourceNotFound)) throw error;
  return undefined;
};

/** Finds a resource that the actor can see by its id; none if it belongs to another organization. */
export const findById = async (deps: LookupDependencies, actor: Actor, id: string): Promise<LookupMatch[]> => {
  const kinds = KINDS.filter((kind) => kind.prefixes.some((prefix) => id.startsWith(prefix)) && can(actor, kind.permission));
  const found = await Promise.all(kinds.map(({ find }) => find(deps, actor, id).catch(orNone)));
  return found.filter((match) => match !== undefined);
};
