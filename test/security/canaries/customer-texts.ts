import type { Control } from '../../support/clients/control.ts';
import { startOpenIdIssuer } from '../../support/emulators/openid-issuer.ts';

/** The changes that customers make with words of their own. */
export const ACTIONS_WITH_TEXTS = [
  'api_key.created',
  'api_key.updated',
  'billing_profile.updated',
  'identity_provider.created',
  'identity_provider.deleted',
  'identity_provider.updated',
  'organization.created',
  'organization.updated',
  'payload_log.updated',
  'project.created',
  'project.updated',
  'service_account.created',
  'service_account.updated',
  'ticket.assigned',
  'ticket.created',
  'ticket.message_added',
  'ticket.note_added',
  'ticket.reopened',
  'ticket.updated',
  'user.invited',
  'user.updated',
  'webhook.created',
  'webhook.rotated',
  'webhook.tested',
  'webhook.updated',
  'webhook.deleted',
] as const;

/** The changes in which customers write nothing but names, ids and numbers, and those of the platform. */
export const ACTIONS_WITHOUT_TEXTS = [
  'adapter_price.added',
  'identity_provider.domain_verified',
  'api_key.revoked',
  'api_key.rotated',
  'benchmark.cancelled',
  'benchmark.started',
  'credit.expired',
  'credit.expiry_corrected',
  'credit.granted',
  'credit_note.issued',
  'deployment.adapter_added',
  'deployment.adapter_deleted',
  'deployment.created',
  'deployment.deleted',
  'deployment.published',
  'deployment.retried',
  'deployment.started',
  'deployment.stopped',
  'deployment.unpublished',
  'deployment.updated',
  'export.created',
  'federation_rule.created',
  'federation_rule.deleted',
  'federation_rule.updated',
  'instance_type.created',
  'instance_type.costed',
  'instance_type.priced',
  'instance_type.updated',
  'invoice.created',
  'invoice.deleted',
  'invoice.issued',
  'invoice.paid',
  'invoice.requested',
  'invoice.voided',
  'model.deleted',
  'model.registered',
  'model.updated',
  'model_alias.deleted',
  'model_alias.split_stopped',
  'model_alias.updated',
  'organization.data_deleted',
  'organization.limited',
  'organization.resumed',
  'organization.suspended',
  'payload.read',
  'payload_log.deleted',
  'price.added',
  'project.archived',
  'rerate.executed',
  'runtime.created',
  'runtime.updated',
  'scim_group.created',
  'scim_group.deleted',
  'scim_group.updated',
  'scim_token.created',
  'scim_token.deleted',
  'seller.updated',
  'service_account.deleted',
  'service_account.secret_created',
  'service_account.secret_deleted',
  'service_promise.stated',
  'session.all_ended',
  'session.created',
  'session.ended',
  'session.proved',
  'session.refused',
  'ticket.closed',
  'ticket.deleted',
  'usage.rerated',
  'user.deleted',
  'user.invited_again',
  'user.linked',
  'user.password_changed',
  'user.password_reset',
  'user.provisioned',
  'user.totp_disabled',
  'user.totp_enabled',
  'user.totp_reset',
  'webhook.delivery_replayed',
  'webhook.disabled',
] as const;

interface Callers {
  admin: string;
  owner: string;
  support: { id: string; token: string };
  /** The organization of the owner. */
  organization: string;
}

/**
 * Makes each of the changes with texts, with a canary in every text.
 * @param named a canary that the audit log may have: names, addresses, and what an invoice prints
 * @param hidden a canary that it may not have
 */
export const writeCustomerTexts = async (
  { done }: Control,
  { admin, owner, support, organization }: Callers,
  named: (what: string) => string,
  hidden: (what: string) => string,
): Promise<void> => {
  const byOwner = (method: string, path: string, body?: object) => done(method, path, { token: owner, ...(body && { body }) });
  const byAdmin = (method: string, path: string, body: object) => done(method, path, { token: admin, body });

  await byAdmin('POST', '/v1/organizations', { name: named('the name of an organization') });
  await byAdmin('PATCH', `/v1/organizations/${organization}`, { name: named('the new name of an organization') });

  const metadata = (): object => ({ [hidden('a metadata key of an API key')]: hidden('a metadata value of an API key') });
  const key = await byOwner('POST', '/v1/api-keys', { name: named('the name of an API key'), metadata: metadata() });
  await byOwner('PATCH', `/v1/api-keys/${key.id}`, { name: named('the new name of an API key'), metadata: metadata() });

  const project = await byOwner('POST', '/v1/projects', { name: named('the name of a project') });
  await byOwner('PATCH', `/v1/projects/${project.id}`, { name: named('the new name of a project') });

  const user = await byOwner('POST', '/v1/users', {
    email: `${named('the address of a user')}@example.com`,
    name: named('the name of a user'),
  });
  await byOwner('PATCH', `/v1/users/${user.id}`, { name: named('the new name of a user') });

  const program = { name: named('the name of a service account'), description: hidden('the description of a service account') };
  const account = await byOwner('POST', '/v1/service-accounts', { ...program, role: 'viewer' });
  await byOwner('PATCH', `/v1/service-accounts/${account.id}`, { description: hidden('the new description of a service account') });

  const url = (): string => `https://hooks.example.com/${hidden('the path of a webhook')}?${hidden('the query of a webhook')}`;
  const webhook = await byOwner('POST', '/v1/webhooks', { url: url(), description: hidden('the description of a webhook') });
  const ofWebhook = `/v1/webhooks/${webhook.id}`;
  await byOwner('PATCH', ofWebhook, { url: url(), description: hidden('the new description of a webhook') });
  await byOwner('POST', `${ofWebhook}/test`);
  await byOwner('POST', `${ofWebhook}/rotate`, { overlap_seconds: 0 });
  await byOwner('DELETE', ofWebhook);

  const issuer = await startOpenIdIssuer();
  const connection = { name: hidden('the name of an identity provider'), issuer: issuer.url, client_id: 'sluice' };
  const ofProvider = `/v1/identity-providers/${(await byOwner('POST', '/v1/identity-providers', connection)).id}`;
  await byOwner('PATCH', ofProvider, { name: hidden('the new name of an identity provider') });
  await byOwner('DELETE', ofProvider);
  await issuer.close();

  const texts = { subject: hidden('the subject of a ticket'), body: hidden('the text of a ticket') };
  const ofTicket = `/v1/tickets/${(await byOwner('POST', '/v1/tickets', texts)).id}`;
  await byOwner('PATCH', ofTicket, { subject: hidden('the new subject of a ticket') });
  await byOwner('POST', `${ofTicket}/messages`, { body: hidden('a message') });
  const bySupport = (method: string, path: string, body: object) => done(method, path, { token: support.token, body });
  await bySupport('POST', `${ofTicket}/messages`, { body: hidden('a note'), visibility: 'internal' });
  await bySupport('PATCH', ofTicket, { assignee: support.id, status: 'resolved' });
  await byOwner('POST', `${ofTicket}/reopen`);

  await byOwner('PATCH', '/v1/billing/profile', {
    legal_name: named('a legal name'),
    address: { lines: [named('an address')], country: 'US' },
    emails: [`${named('an address for invoices')}@example.com`],
    purchase_order: named('a purchase order'),
  });
  await byOwner('PUT', '/v1/observability/payload-log', {
    enabled: true,
    retention_days: 7,
    paths: [`$.${named('a path of the payload log')}`],
  });
};
