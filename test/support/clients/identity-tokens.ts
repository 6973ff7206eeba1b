import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { OAuth2Server } from 'oauth2-mock-server';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Role } from '../../../shared/hosts/permissions.ts';
import { createIdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import type { OpenIdProvider } from '../emulators/openid-provider.ts';
import { signInAt } from './browser.ts';
import type { Control, SignedIn } from './control.ts';
import type { TestRun } from './local-run.ts';

const TOKEN_SECONDS = 600;
// Where a program on the user's machine would wait for the code.
const LOOPBACK = 'http://127.0.0.1:9/signed-in';

/**
 * A program without a secret: its issuer and its federation rule.
 * @param owner of the organization of its service account
 */
export const createWorkload = async (run: TestRun, control: Control, { token }: SignedIn, role: Role) => {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const create = (path: string, body: object) => control.done('POST', path, { token, body });
  const { id } = await create('/v1/service-accounts', { name: 'ci', role });
  const fields = { issuer: String(server.issuer.url), audience: run.control_url, claims: { repository_id: '7' } };
  const { id: rule } = await create(`/v1/service-accounts/${id}/federation-rules`, fields);
  return {
    /** Returns a request for an access token, with a new token of the issuer. */
    exchange: async () => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: await server.issuer.buildToken({
        scopesOrTransform: (_, payload) => {
          const exp = Number(payload.iat) + TOKEN_SECONDS;
          Object.assign(payload, { sub: 'repo:acme/web', aud: run.control_url, jti: randomUUID(), repository_id: '7', exp });
        },
      }),
      client_id: id,
      federation_rule: rule,
    }),
    close: () => server.stop(),
  };
};

/** Returns an access token of a service account, got for a token of a workload. @param owner of its organization */
export const federatedToken = async (run: TestRun, control: Control, owner: SignedIn, role: Role): Promise<string> => {
  const workload = await createWorkload(run, control, owner, role);
  try {
    return (await control.done('POST', '/v1/auth/token', { body: await workload.exchange() })).access_token;
  } finally {
    await workload.close();
  }
};

interface SignOn {
  run: TestRun;
  control: Control;
  openId: OpenIdProvider;
}

// Without DNS: the domain is verified in the database.
const connect = async ({ run, control, openId }: SignOn, { token }: SignedIn, organization: string, role: Role): Promise<string> => {
  const domain = `${randomUUID()}.example`;
  const { issuer, client } = openId;
  const fields = {
    name: 'Ours',
    issuer,
    client_id: client.id,
    client_secret: client.secret,
    scopes: ['openid', 'email'],
    domains: [domain],
  };
  const { id } = await control.done('POST', '/v1/identity-providers', { token, body: { ...fields, default_role: role } });
  const providers = createIdentityProviderStore(createRecordTable(run.database, run.tables.Accounts as string));
  const provider = await providers.find(organization, id);
  if (!provider) throw new Error(`${id} does not exist.`);
  const domains = provider.domains.map((each) => ({ ...each, verified_at: 1 }));
  await transact(run.database, [providers.toReplace({ ...provider, domains }), providers.toHoldDomain(provider, domain)]);
  return domain;
};

/** Connects an organization with a provider, and returns an access token of a new user who logged in there. */
export const singleSignOnToken = async (sides: SignOn, owner: SignedIn, organization: string, role: Role): Promise<string> => {
  const { control } = sides;
  const email = `ada@${await connect(sides, owner, organization, role)}`;
  const code_verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const { authorize_url } = await control.done('POST', '/v1/auth/sso', { body: { email, code_challenge, redirect_uri: LOOPBACK } });
  const page = await signInAt(sides.openId.issuer, authorize_url, email, (url) => url.startsWith(LOOPBACK));
  if (!page.url.startsWith(LOOPBACK)) throw new Error(`The login ended at ${page.url}: ${page.status} ${page.html}`);
  const body = { code: new URL(page.url).searchParams.get('code'), code_verifier };
  return (await control.done('POST', '/v1/auth/sso/session', { body })).access_token;
};
