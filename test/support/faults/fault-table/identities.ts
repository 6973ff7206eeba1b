import type { Control, SignedIn } from '../../clients/control.ts';
import { createWorkload } from '../../clients/identity-tokens.ts';
import type { TestRun } from '../../clients/local-run.ts';
import { storeIdentityProvider } from '../../fixtures/scim/store-identity-provider.ts';

const DOMAIN = 'acme.example';

/** The identities of an organization, besides its users. */
export interface Identities {
  serviceAccount: { id: string; secret: string };
  workload: Awaited<ReturnType<typeof createWorkload>>;
  scimToken: string;
  /** An address in the domain of the identity provider. */
  address: string;
}

/** Creates a service account with a secret, a workload, and an identity provider with a SCIM token. */
export const createIdentities = async (run: TestRun, control: Control, owner: SignedIn, organization: string): Promise<Identities> => {
  const create = (path: string, body: object) => control.done('POST', path, { token: owner.token, body });
  const { id } = await create('/v1/service-accounts', { name: 'report', role: 'member' });
  const { secret } = await create(`/v1/service-accounts/${id}/secrets`, {});
  const provider = await storeIdentityProvider(run, { organization, domain: DOMAIN });
  const { token: scimToken } = await create(`/v1/identity-providers/${provider.id}/scim-tokens`, {});
  const workload = await createWorkload(run, control, owner, 'member');
  return { serviceAccount: { id, secret }, workload, scimToken, address: `ada@${DOMAIN}` };
};
