import type { AuditDependencies } from '../../../shared/audit/commit.ts';
import type { Discovery } from '../../../shared/federation/discovery.ts';
import type { UserStore } from '../../../shared/identity/user-store.ts';
import type { Networks } from '../../../shared/network/networks.ts';
import type { ClientSecrets } from '../../../shared/single-sign-on/client-secrets.ts';
import type { IdentityLinks } from '../../../shared/single-sign-on/identity-links.ts';
import type { IdentityProviderEvents } from '../../../shared/single-sign-on/identity-provider-events.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import type { SsoLogins } from '../../../shared/single-sign-on/sso-logins.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import type { ScimStore } from '../scim/scim-store.ts';
import type { ResolveTxt } from './resolve-txt.ts';

export interface IdentityProviderDependencies extends AuditDependencies {
  identityProviders: IdentityProviderStore;
  clientSecrets: Pick<ClientSecrets, 'put' | 'delete'>;
  identityProviderEvents: Pick<IdentityProviderEvents, 'list' | 'clear'>;
  identityLinks: Pick<IdentityLinks, 'toUnlinkProvider'>;
  scim: Pick<ScimStore, 'clear'>;
  ssoLogins: Pick<SsoLogins, 'begin' | 'testResult'>;
  /** Decides which addresses identity providers can have. */
  networks: Networks;
  discover: Discovery;
  resolveTxt: ResolveTxt;
  users: UserStore;
  organizations: Pick<OrganizationStore, 'toCheckActive'>;
  /** The URL of the control plane, without a slash at the end. */
  controlUrl: string;
}
