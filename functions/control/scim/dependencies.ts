import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import type { CallCounter } from '../access/count-call.ts';
import type { AccessDependencies } from '../users/remove-access.ts';
import type { ScimProvisionDependencies } from './provision-user.ts';
import type { ScimStore } from './scim-store.ts';
import type { ScimTokenStore } from './token-store.ts';

export interface ScimDependencies extends AccessDependencies {
  organizations: AccessDependencies['organizations'] & ScimProvisionDependencies['organizations'];
  identityProviders: IdentityProviderStore;
  scim: ScimStore;
  scimTokens: Pick<ScimTokenStore, 'find' | 'noteUse'>;
  calls: Pick<CallCounter, 'countCall'>;
}
