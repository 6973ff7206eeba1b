import type { Actor, UserRole } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createScimToken } from '../../../../functions/control/scim/manage-tokens.ts';
import { scimRoutes } from '../../../../functions/control/scim/scim-routes.ts';
import { createScimStore } from '../../../../functions/control/scim/scim-store.ts';
import { createScimTokenStore } from '../../../../functions/control/scim/token-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { type Routes, route } from '../../../../shared/http/router.ts';
import type { UserPool } from '../../../../shared/identity/user-pool.ts';
import { toErrorReply } from '../../../../shared/middleware/error-replies.ts';
import type { IdentityProvider } from '../../../../shared/single-sign-on/identity-provider.ts';
import { createIdentityProviderStore } from '../../../../shared/single-sign-on/identity-provider-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { recordedRequest } from '../../../support/fixtures/scim/requests.ts';
import { storeIdentityProvider } from '../../../support/fixtures/scim/store-identity-provider.ts';
import { ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

const recordingUserPool = () => {
  const calls: string[] = [];
  const userPool = {
    createSilentUser: async (email: string) => {
      calls.push(`create ${email}`);
      return { subject: newId('user'), isNew: true };
    },
    setEnabled: async (_: string, isEnabled: boolean) => {
      calls.push(isEnabled ? 'enable' : 'disable');
    },
    signOutEverywhere: async () => {
      calls.push('sign out');
    },
    deleteUser: async () => {
      calls.push('delete');
    },
  } as Partial<UserPool> as UserPool;
  return { calls, userPool };
};

export interface ScimReply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  body: any;
}

/** One organization with an identity provider, and the routes of SCIM over the emulator's tables. */
export const createScimWorld = async (database: TestDatabase, over: Database = database.database) => {
  const pool = recordingUserPool();
  const accounts = createRecordTable(over, database.tables.Accounts as string);
  const clock = { aheadMs: 0 };
  const deps = {
    ...accountStores(database, over),
    userPool: pool.userPool,
    issuer: ISSUER,
    identityProviders: createIdentityProviderStore(accounts),
    scim: createScimStore(accounts),
    scimTokens: createScimTokenStore(accounts),
    now: () => Date.now() + clock.aheadMs,
  };

  const routes: Routes = {};
  for (const { method, path, handle } of scimRoutes) routes[path] = { ...routes[path], [method]: (event: ApiEvent) => handle(deps, event) };
  const serve = route(routes);

  const createConnection = (organization: string, domain: string, fields: Partial<IdentityProvider> = {}): Promise<IdentityProvider> =>
    storeIdentityProvider(database, { ...fields, organization, domain });

  const changeConnection = async ({ organization, id }: IdentityProvider, fields: Partial<IdentityProvider>): Promise<void> => {
    const provider = (await deps.identityProviders.find(organization, id)) as IdentityProvider;
    await transact(database.database, [deps.identityProviders.toReplace({ ...provider, ...fields })]);
  };

  const send = async (token: string, method: string, target: string, body?: unknown): Promise<ScimReply> => {
    const { pathname, searchParams } = new URL(`https://control.example.com/scim/v2${target}`);
    const event = {
      resource: '/{proxy+}',
      pathParameters: { proxy: pathname.slice(1) },
      httpMethod: method,
      path: pathname,
      headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/scim+json; charset=utf-8' },
      queryStringParameters: Object.fromEntries(searchParams),
      multiValueQueryStringParameters: Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)])),
      body: body === undefined ? null : JSON.stringify(body),
      requestContext: { identity: { sourceIp: '192.0.2.7' }, domainName: 'control.example.com', path: `/live${pathname}` },
      requestId: 'req_1',
      receivedAtMs: Date.now(),
    } as unknown as ApiEvent;
    const { statusCode, headers, body: text } = await serve(event).catch((error: unknown) => toErrorReply(error, event));
    return { status: statusCode, headers, body: text === '' ? undefined : JSON.parse(text) };
  };

  const newOwner = (organization: string): Promise<Actor> => storeUser(deps, { role: 'owner', organization });
  const admin = await storeUser(deps, { role: 'admin', organization: null });

  /** An organization with an owner, a connection of a domain of its own, and a token. */
  const createTenant = async (fields: Partial<IdentityProvider> = {}) => {
    const organization = (await createOrganization(deps, admin.origin, { name: 'Acme' })).id;
    const owner = await newOwner(organization);
    const domain = `${newId('user').slice(5).toLowerCase()}.example.com`;
    const provider = await createConnection(organization, domain, fields);
    const { token, id: tokenId } = await createScimToken(deps, owner, { id: provider.id, organization: undefined });
    const sendRecorded = (from: 'okta' | 'entra', name: string, facts: Readonly<Record<string, string>>): Promise<ScimReply> => {
      const { method, path, body } = recordedRequest(from, name, facts);
      return send(token, method, path, body);
    };
    const createUser = async (userName: string, more: object = {}): Promise<string> => {
      const { status, body } = await send(token, 'POST', '/Users', { userName, ...more });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body.id;
    };
    return {
      organization,
      owner,
      domain,
      provider,
      token,
      tokenId,
      sendRecorded,
      createUser,
      send: (method: string, target: string, body?: unknown) => send(token, method, target, body),
    };
  };

  return {
    deps,
    admin,
    clock,
    calls: pool.calls,
    send,
    createTenant,
    createConnection,
    changeConnection,
    newOwner,
    storeUser: (role: UserRole, organization: string | null) => storeUser(deps, { role, organization }),
  };
};

export type ScimWorld = Awaited<ReturnType<typeof createScimWorld>>;
export type ScimTenant = Awaited<ReturnType<ScimWorld['createTenant']>>;
