import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ControlOperation } from '../../functions/control/access/route.ts';
import { controlOperations } from '../../infra/tools/reference/control-operations.ts';
import { isPlatformRole, type Permission, permissionsOf, ROLES, type Role } from '../../shared/hosts/permissions.ts';
import { type Control, controlOf, type SignedIn } from '../support/clients/control.ts';
import { federatedToken, singleSignOnToken } from '../support/clients/identity-tokens.ts';
import { shareTestRun, type TestRun } from '../support/clients/local-run.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/emulators/openid-provider.ts';
import { stoppedWithAdapter } from '../support/fixtures/adapters/stopped-with-adapter.ts';
import { deploymentsOf } from '../support/fixtures/deployments.ts';
import { sized } from '../support/sized.ts';

let run: TestRun;
let control: Control;
let organization: string;
let openId: OpenIdProvider;
beforeAll(async () => {
  run = await shareTestRun();
  openId = await startOpenIdProvider(`${run.control_url}/v1/auth/sso/callback`);
  control = controlOf(run);
  ({ id: organization } = await control.createOrganization());
});
afterAll(async () => {
  await run.close();
  await openId.close();
});

// `admitted`: only the unknown parameter of the request was wrong.
type Outcome = 'admitted' | 'people_only' | 'invalid_token' | 'insufficient_role' | 'organization_suspended' | 'second_factor_required';

const restricted = controlOperations.filter(({ access }) => access !== 'public');

const has = (role: Role, { access }: ControlOperation): boolean => (permissionsOf(role) as ReadonlySet<string>).has(access);

const byPermission =
  (role: Role) =>
  (route: ControlOperation): Outcome =>
    has(role, route) ? 'admitted' : 'insufficient_role';

const inOrganization = (role: Role, of: string = organization): Promise<SignedIn> =>
  control.createUser({ role, ...(!isPlatformRole(role) && { organization: of }) });

// One user for each role: what the tests send changes nothing of theirs.
const users = new Map<Role, Promise<SignedIn>>();
const withRole = (role: Role): Promise<SignedIn> => {
  const known = users.get(role) ?? inOrganization(role);
  users.set(role, known);
  return known;
};

// All callers of an organization share its requests that wait for AWS, of which a minute has few.
const ownerElsewhere = async (): Promise<SignedIn> => inOrganization('owner', (await control.createOrganization('Machines')).id);

const asAdmin = async (method: string, path: string, body: unknown): Promise<void> =>
  control.done(method, path, { token: (await control.asAdmin()).token, body });

const ofSuspended = async (): Promise<SignedIn> => {
  const { id } = await control.createOrganization('Late');
  const owner = await inOrganization('owner', id);
  await asAdmin('POST', `/v1/organizations/${id}/suspend`, { reason: 'test' });
  return owner;
};

const disabled = async (): Promise<SignedIn> => {
  const user = await inOrganization('owner');
  await asAdmin('PATCH', `/v1/users/${user.id}`, { status: 'disabled' });
  return user;
};

const withoutSecondFactor = async (role: Role): Promise<SignedIn> => {
  const user = await inOrganization('support');
  await asAdmin('PATCH', `/v1/users/${user.id}`, { role });
  return user;
};

const withoutRequiredFactor = async (): Promise<SignedIn> => {
  const { id } = await control.createOrganization('Careful');
  const owner = await inOrganization('owner', id);
  const member = await inOrganization('member', id);
  await control.setUpSecondFactor(owner);
  await control.done('PATCH', `/v1/organizations/${id}`, { token: owner.token, body: { require_second_factor: true } });
  return member;
};

const withoutSession = async (): Promise<SignedIn> => {
  const user = await inOrganization('owner');
  await control.done('DELETE', '/v1/me/sessions?keep_current=false', { token: user.token });
  return user;
};

const ofServiceAccount = async (permissions?: readonly Permission[]): Promise<string> => {
  const { token } = await ownerElsewhere();
  const body = { name: 'nightly', role: 'owner', ...(permissions && { permissions }) };
  const { id } = await control.done('POST', '/v1/service-accounts', { token, body });
  const { secret } = await control.done('POST', `/v1/service-accounts/${id}/secrets`, { token, body: {} });
  const grant = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
  return (await control.done('POST', '/v1/auth/token', { body: grant })).access_token;
};

// A service account never changes accounts, service accounts or identity providers, whatever its role.
const OF_PEOPLE: readonly string[] = ['account:write', 'service_accounts:write', 'identity_providers:write'];

const serviceAccountCan = (route: ControlOperation): Outcome => {
  if (OF_PEOPLE.includes(route.access) || !has('owner', route)) return 'insufficient_role';
  return route.isForPeople ? 'people_only' : 'admitted';
};

interface Caller {
  name: string;
  token: () => Promise<string>;
  expected: (route: ControlOperation) => Outcome;
}

const person = (name: string, user: () => Promise<SignedIn>, expected: Caller['expected']): Caller => ({
  name,
  token: async () => (await user()).token,
  expected,
});

const isReading = ({ method, isOpenToSuspended }: ControlOperation): boolean => method === 'GET' || isOpenToSuspended === true;

const admittedWithoutFactor =
  (role: Role) =>
  (route: ControlOperation): Outcome => {
    if (!has(role, route)) return 'insufficient_role';
    return route.isOpenWithoutSecondFactor ? 'admitted' : 'second_factor_required';
  };

const rejected = (): Outcome => 'invalid_token';

const OF_SUSPENDED = person('an owner of a suspended organization', ofSuspended, (route) => {
  if (!has('owner', route)) return 'insufficient_role';
  return isReading(route) ? 'admitted' : 'organization_suspended';
});

// Add each new kind of caller here.
const OTHERS: readonly Caller[] = [
  person('an admin without a second factor', () => withoutSecondFactor('admin'), admittedWithoutFactor('admin')),
  { name: 'a service account with the role owner', token: () => ofServiceAccount(), expected: serviceAccountCan },
  // control-routes.test.ts sends all routes of an owner as one of a suspended organization.
  ...sized([], [OF_SUSPENDED]),
  person(
    'a platform_billing user without a second factor',
    () => withoutSecondFactor('platform_billing'),
    admittedWithoutFactor('platform_billing'),
  ),
  person('a member without the second factor that the organization requires', withoutRequiredFactor, admittedWithoutFactor('member')),
  {
    name: 'a service account with some permissions of its role',
    token: () => ofServiceAccount(['usage:read', 'keys:write']),
    expected: (route) => (['usage:read', 'keys:write'].includes(route.access) ? serviceAccountCan(route) : 'insufficient_role'),
  },
  {
    name: 'a workload whose token was exchanged for that of a service account with the role member',
    token: async () => federatedToken(run, control, await ownerElsewhere(), 'member'),
    expected: (route) => (has('member', route) ? serviceAccountCan(route) : 'insufficient_role'),
  },
  {
    name: 'a user who logged in with the identity provider, as billing',
    token: async () => singleSignOnToken({ run, control, openId }, await inOrganization('owner'), organization, 'billing'),
    expected: byPermission('billing'),
  },
  person('a disabled user', disabled, rejected),
  person('a user who has ended their sessions', withoutSession, rejected),
];

const outcomeOf = async (route: ControlOperation, token: string): Promise<string> => {
  // The unknown parameter is found after the caller's rights were checked, and before anything is read or changed.
  const path = route.path.replaceAll(/\{\w+\+?\}/g, 'none');
  const { status, body } = await control.call(route.method, `${path}?unheard_of=1`, {
    token,
    ...(route.body && { body: route.body.example }),
  });
  if (status === 400) {
    expect(body.error).toMatchObject({ type: 'invalid_request_error', message: expect.stringContaining("'unheard_of'") });
    expect(JSON.stringify(body)).not.toMatch(/arn:|\.ts:|node_modules|at Object/);
    return 'admitted';
  }
  if (status === 403)
    expect(body).toEqual({
      error: { message: expect.any(String), type: 'permission_error', param: null, code: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    });
  if (body.error.code === 'insufficient_role') expect(body.error.message).toContain(`'${route.access}'`);
  return body.error.code ?? body.code;
};

const nameOf = ({ method, path }: ControlOperation): string => `${method} ${path}`;
const AT_ONCE = 8;

const TURNS = 3;

// One function authorizes the callers of all routes, so the small size sends each route as some of them, in turn.
// A caller gets every third route, and the first one of each outcome.
const inTurn = ({ expected }: Caller, turn: number): ControlOperation[] => {
  const seen = new Set<Outcome>();
  return restricted.filter((route, number) => {
    const isFirst = !seen.has(expected(route));
    seen.add(expected(route));
    return isFirst || number % TURNS === turn % TURNS;
  });
};

// Each permission as every role, and each route as one role that has its permission and one that lacks it, in turn.
const ofRole = (role: Role): ControlOperation[] => {
  const seen = new Set<string>();
  return restricted.filter((route, number) => {
    const isFirst = !seen.has(route.access);
    seen.add(route.access);
    const alike = ROLES.filter((other) => has(other, route) === has(role, route));
    return isFirst || alike[number % alike.length] === role;
  });
};

const cases: readonly (readonly [string, Caller, readonly ControlOperation[]])[] = [
  ...ROLES.map((role) => {
    const name = `a user with the role ${role}`;
    return [name, person(name, () => withRole(role), byPermission(role)), sized(ofRole(role), restricted)] as const;
  }),
  ...OTHERS.map((caller, turn) => [caller.name, caller, sized(inTurn(caller, turn), restricted)] as const),
];

describe.each(cases)('%s', (_, { token, expected }, routes) => {
  test('is admitted to exactly the routes of the permissions', async () => {
    const presented = await token();
    const outcomes: Record<string, string> = {};
    for (let start = 0; start < routes.length; start += AT_ONCE)
      await Promise.all(
        routes.slice(start, start + AT_ONCE).map(async (route) => {
          outcomes[nameOf(route)] = await outcomeOf(route, presented);
        }),
      );
    expect(outcomes).toEqual(Object.fromEntries(routes.map((route) => [nameOf(route), expected(route)])));
  });
});

describe('the adapters of a deployment', () => {
  const ADMITTED: Readonly<Record<string, number>> = { GET: 200, POST: 201, DELETE: 202 };
  const routes = restricted.filter(({ path }) => path.startsWith('/v1/deployments/{id}/adapters'));

  // Returns the status of each route for a deployment that has an adapter, and its adapters afterwards.
  const statusesFor = async ({ token }: SignedIn, name: string) => {
    const { id, adapter } = await stoppedWithAdapter(run, organization, name);
    const body = { name: `${name}-new`, source: `s3://${run.buckets.Weights}/${organization}/new/` };
    const statuses: Record<string, number> = {};
    for (const route of routes) {
      const path = route.path.replace('{id}', id).replace('{adapter}', adapter);
      const { status } = await control.call(route.method, path, { token, ...(route.body && { body }) });
      statuses[nameOf(route)] = status;
    }
    const row = await deploymentsOf(run).find(id);
    return { statuses, isUnchanged: row?.changes === 1 };
  };
  const expectedFor = (role: Role, admitted: (route: ControlOperation) => number | undefined) =>
    Object.fromEntries(routes.map((route) => [nameOf(route), has(role, route) ? admitted(route) : 403]));

  test('have a route to add, list, retrieve and delete them', () => {
    expect(routes.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'DELETE']);
  });

  test.each(ROLES)('are open to the role %s by its permissions', async (role) => {
    const { statuses, isUnchanged } = await statusesFor(await withRole(role), `matrix-${role.replace('_', '-')}`);
    expect(statuses).toEqual(expectedFor(role, ({ method }) => ADMITTED[method]));
    expect(isUnchanged).toBe(!permissionsOf(role).has('deployments:write'));
  });

  test.each(ROLES.filter((role) => !isPlatformRole(role)))('don’t exist for the role %s of another organization', async (role) => {
    const { id: elsewhere } = await control.createOrganization('Elsewhere');
    const { statuses, isUnchanged } = await statusesFor(await inOrganization(role, elsewhere), `matrix-other-${role}`);
    expect(statuses).toEqual(expectedFor(role, () => 404));
    expect(isUnchanged).toBe(true);
  });
});
