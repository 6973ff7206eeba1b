import type { IdentityProviderEvent } from '../../../shared/single-sign-on/identity-provider-events.ts';

/** An event of a connection, as a login stores it. */
export const identityProviderEvent = (fields: Partial<IdentityProviderEvent> = {}): IdentityProviderEvent => ({
  object: 'identity_provider_event',
  at: 1_793_500_000_000,
  outcome: 'signed_in',
  reason: null,
  is_verified: true,
  user: 'user_1',
  role: 'member',
  subject: 'subject',
  email: 'ada@example.com',
  claims: {},
  ip_address: '192.0.2.7',
  request_id: 'req_1',
  ...fields,
});
