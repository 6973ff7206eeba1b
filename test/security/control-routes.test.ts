import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ControlOperation } from '../../functions/control/access/route.ts';
import { controlOperations } from '../../infra/tools/reference/control-operations.ts';
import { permissionsOf, type Role } from '../../shared/hosts/permissions.ts';
import { type Answer, type Control, controlOf, type RequestParts, type SignedIn } from '../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../support/clients/local-run.ts';
import { type OpenIdIssuer, startOpenIdIssuer } from '../support/emulators/openid-issuer.ts';
import { storeDeployment } from '../support/fixtures/deployments.ts';
import { storeInvoice } from '../support/fixtures/invoices.ts';
import { newId } from '../support/fixtures/new-id.ts';
import { storeIdentityProvider } from '../support/fixtures/scim/store-identity-provider.ts';
import { sized } from '../support/sized.ts';
import { signedByAnother, unsigned, withClaims } from './forged-tokens.ts';

// Routes that log in and out need no session.
const PUBLIC = [
  'POST /v1/auth/login',
  'POST /v1/auth/challenge',
  'POST /v1/auth/refresh',
  'POST /v1/auth/logout',
  'POST /v1/auth/forgot',
  'POST /v1/auth/reset',
  'POST /v1/auth/token',
  'POST /v1/auth/browser/login',
  'POST /v1/auth/browser/challenge',
  'POST /v1/auth/browser/refresh',
  'POST /v1/auth/browser/logout',
  'POST /v1/auth/browser/sso',
  'POST /v1/auth/sso',
  'POST /v1/auth/sso/session',
  'GET /v1/console/configuration',
];

const nameOf = ({ method, path }: Pick<ControlOperation, 'method' | 'path'>): string => `${method} ${path}`;
const restricted = controlOperations.filter(({ access }) => access !== 'public');
const named = (routes: readonly ControlOperation[]): [string, ControlOperation][] => routes.map((route) => [nameOf(route), route]);

let run: TestRun;
let control: Control;
// The organization whose resources the requests are about.
let organization: string;
let owner: SignedIn;
let member: SignedIn;
let keyId: string;
// An adapter of that deployment.
const ADAPTER = newId('adapter');
let deploymentId: string;
let invoiceId: string;
let creditNoteId: string;
let webhookId: string;
let projectId: string;
let issuer: OpenIdIssuer;
let identityProviderId: string;
let exportId: string;
let ticketId: string;
// Users of another organization, by their role.
let others: Record<'member' | 'viewer' | 'billing' | 'owner', SignedIn>;
let serviceAccountId: string;
let suspended: SignedIn;
let disabled: SignedIn;
let admin: SignedIn;

beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  admin = await control.asAdmin();
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  member = await control.createUser({ role: 'member', organization });
  ({ id: keyId } = await control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'key' } }));
  await control.done('PUT', '/v1/model-aliases/own-alias', { token: owner.token, body: { model: run.model } });
  const webhook = { url: 'https://example.com/webhooks' };
  ({ id: webhookId } = await control.done('POST', '/v1/webhooks', { token: owner.token, body: webhook }));
  ({ id: projectId } = await control.done('POST', '/v1/projects', { token: owner.token, body: { name: 'Search' } }));
  issuer = await startOpenIdIssuer();
  const provider = { name: 'Acme', issuer: issuer.url, client_id: 'sluice' };
  ({ id: identityProviderId } = await control.done('POST', '/v1/identity-providers', { token: owner.token, body: provider }));
  const wanted = { format: 'jsonl', start_time: 1_795_219_200, end_time: 1_795_305_600 };
  ({ id: exportId } = await control.done('POST', '/v1/billing/exports', { token: owner.token, body: wanted }));
  const program = { name: 'ci', role: 'viewer' };
  ({ id: serviceAccountId } = await control.done('POST', '/v1/service-accounts', { token: owner.token, body: program }));
  const ticket = { subject: 'Acme can’t log in', body: 'Since nine.' };
  ({ id: ticketId } = await control.done('POST', '/v1/tickets', { token: owner.token, body: ticket }));
  // Stopped, so that nothing starts it.
  const adapter = {
    id: ADAPTER,
    name: 'legal',
    source: 's3://weights/legal/',
    created_at: 1,
    created_by: 'user_1',
    state: 'ready',
  } as const;
  const fields = { wanted: 'stopped', state: 'stopped', adapters: [{ ...adapter, packed: { rank: 8, bytes: 1_000 } }] } as const;
  ({ id: deploymentId } = await storeDeployment(run, { organization, ...fields, adapters: [...fields.adapters] }));
  ({ invoiceId, creditNoteId } = await storeInvoice(run, organization));
  ({ id: identityProviderId } = await storeIdentityProvider(run, { organization, domain: 'acme.example' }));
  const { id: other } = await control.createOrganization('Other');
  others = {
    member: await control.createUser({ role: 'member', organization: other }),
    viewer: await control.createUser({ role: 'viewer', organization: other }),
    billing: await control.createUser({ role: 'billing', organization: other }),
    owner: await control.createUser({ role: 'owner', organization: other }),
  };
  const { id: suspendedId } = await control.createOrganization('Late');
  suspended = await control.createUser({ role: 'owner', organization: suspendedId });
  await control.done('POST', `/v1/organizations/${suspendedId}/suspend`, { token: admin.token, body: { reason: 'test' } });
  disabled = await control.createUser({ role: 'owner', organization });
  await control.done('PATCH', `/v1/users/${disabled.id}`, { token: admin.token, body: { status: 'disabled' } });
});
afterAll(async () => {
  await issuer.close();
  await run.close();
});

// By the prefix of the resources' paths. Add new kinds of resources here.
const resources: readonly [prefix: string, id: () => string][] = [
  ['/v1/organizations/', () => organization],
  ['/v1/users/', () => member.id],
  ['/v1/service-accounts/', () => serviceAccountId],
  ['/v1/api-keys/', () => keyId],
  ['/v1/models/', () => 'own-deployment'],
  ['/v1/model-aliases/', () => 'own-alias'],
  ['/v1/deployments/', () => deploymentId],
  ['/v1/billing/invoices/', () => invoiceId],
  ['/v1/billing/credit-notes/', () => creditNoteId],
  ['/v1/webhooks/', () => webhookId],
  ['/v1/projects/', () => projectId],
  ['/v1/identity-providers/', () => identityProviderId],
  ['/v1/billing/exports/', () => exportId],
  ['/v1/runtimes/', () => 'vllm-0.27.1'],
  ['/v1/instance-types/', () => 'ml.g5.xlarge'],
  ['/v1/billing/rerates/', () => 'rr_none'],
  ['/v1/observability/requests/', () => 'req_none'],
  ['/v1/tickets/', () => ticketId],
  ['/v1/me/sessions/', () => 'ses_none'],
  ['/v1/identity-providers/', () => identityProviderId],
];

// With the id of a resource, and the examples of other parameters.
const pathOf = ({ path, parameters = {} }: ControlOperation): string => {
  const withId = path.replace(/\{\w+\+?\}/, () => {
    const [, id] = resources.find(([prefix]) => path.startsWith(prefix)) ?? [];
    if (!id) throw new Error(`There is no resource for ${path}. Add one to \`resources\`.`);
    return encodeURIComponent(id());
  });
  const exampleOf = (name: string): string => (name === 'adapter' ? ADAPTER : (parameters[name]?.example ?? ''));
  return withId.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(exampleOf(name)));
};

// As a page of the host sends them.
const FROM_PAGE = { 'x-sluice-console': '1', 'sec-fetch-site': 'same-origin' };

const exampleRequest = ({ body }: ControlOperation, token: string | undefined): RequestParts => ({
  token,
  headers: FROM_PAGE,
  ...(body && { body: body.example }),
});

const send = (route: ControlOperation, token: string | undefined): Promise<Answer> =>
  control.call(route.method, pathOf(route), exampleRequest(route, token));

test('serves and documents exactly the routes of this list', async () => {
  const document = (await control.call('GET', '/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const service = ['GET /health', 'GET /version', 'GET /openapi.json', 'GET /docs'];
  expect(documented.sort()).toEqual([...controlOperations.map((route) => nameOf(route).replace('+}', '}')), ...service].sort());
});

test('requires a session, except for logging in and out and resetting a password', () => {
  const open = controlOperations.filter(({ access }) => access === 'public').map(nameOf);
  expect(open.sort()).toEqual([...PUBLIC].sort());
});

const tokenKinds: readonly [kind: string, token: () => string | undefined, code: string][] = [
  ['a request without a token', () => undefined, 'invalid_token'],
  ['a malformed token', () => 'sk-s0000', 'invalid_token'],
  ['a token signed with another key', () => signedByAnother(admin.token), 'invalid_token'],
  ['a token without a signature', () => unsigned(admin.token), 'invalid_token'],
  ['an expired token', () => withClaims(admin.token, { exp: Math.floor(Date.now() / 1_000) - 60 }), 'token_expired'],
  ['an id token', () => withClaims(admin.token, { token_use: 'id' }), 'invalid_token'],
  ['a token of another client', () => withClaims(admin.token, { client_id: 'another' }), 'invalid_token'],
  [
    'a token of another issuer',
    () => withClaims(admin.token, { iss: 'https://cognito-idp.us-east-1.amazonaws.com/us-east-1_another' }),
    'invalid_token',
  ],
  ['a token of an unknown user', () => withClaims(admin.token, { sub: '00000000-0000-4000-8000-000000000000' }), 'invalid_token'],
  ['a disabled user', () => disabled.token, 'invalid_token'],
];

// One middleware looks at the tokens of all routes, so the small size sends each route one kind, in turn.
const kindsFor = (number: number) => sized([tokenKinds[number % tokenKinds.length] as (typeof tokenKinds)[number]], tokenKinds);

describe.each(restricted.map((route, number) => [nameOf(route), route, number] as const))('%s rejects', (_, route, number) => {
  const rejects = async (token: string | undefined, code: string): Promise<void> => {
    const { status, headers, body } = await send(route, token);
    expect([status, body]).toEqual([401, { error: expect.any(String), code, request_id: expect.stringMatching(/^req_/) }]);
    // API Gateway renames this header.
    expect(headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
  };

  test.each(kindsFor(number))('%s', (_kind, token, code) => rejects(token(), code));
});

const roleHas = (role: Role, { access }: ControlOperation): boolean => (permissionsOf(role) as ReadonlySet<string>).has(access);
// An admin needs these routes to set up a second factor.
const OPEN_WITHOUT_SECOND_FACTOR = ['POST /v1/auth/password', 'POST /v1/auth/totp', 'POST /v1/auth/totp/verify', 'GET /v1/me'];

test('lets an admin without a second factor only set one up', () => {
  expect(restricted.filter(({ isOpenWithoutSecondFactor }) => isOpenWithoutSecondFactor).map(nameOf)).toEqual(OPEN_WITHOUT_SECOND_FACTOR);
});

// Routes about the caller's own user, or what the caller can see.
const OWN_ONLY = ['/v1/auth/', '/v1/me', '/v1/summary', '/v1/lookup'];
// Routes that show everyone the same.
const SHARED = [
  '/v1/adapter-prices',
  '/v1/pricing/serverless',
  '/v1/models',
  '/v1/runtimes',
  '/v1/runtimes/{id}',
  '/v1/instance-types',
  '/v1/instance-types/{id}',
];

const isOfATenant = (route: ControlOperation): boolean =>
  roleHas('owner', route) && !OWN_ONLY.some((prefix) => route.path.startsWith(prefix)) && !SHARED.includes(route.path);

// Users with the role support can call these, manage their own account, and sum up or look up what they can see.
const FOR_SUPPORT = /^\/v1\/(?:auth|me|tickets|summary|lookup)(?:\/|$)/;

test('opens only routes of tickets, the own account, a summary and a lookup to the role support', () => {
  for (const route of restricted) if (roleHas('support', route)) expect(route.path).toMatch(FOR_SUPPORT);
});

// Query parameters that a route requires.
const REQUIRED = new Map([
  ['start_time', '1795219200'],
  ['end_time', '1795305600'],
  ['from', '2026-11-20'],
]);
const requiredQuery = ({ query }: ControlOperation): string =>
  [...REQUIRED].map(([name, value]) => (query && name in query.shape ? `&${name}=${value}` : '')).join('');

// Members cannot send these, whichever organization the request names.
const OF_OWNERS = { limits: undefined, budgets: undefined };

// The request names the organization's resource in its path, query or body.
const requestResource = (route: ControlOperation, token: string): Promise<Answer> => {
  const path = pathOf(route);
  const { body, token: _ } = exampleRequest(route, token);
  if (path !== route.path) return control.call(route.method, path, { token, body });
  if (route.query && 'organization' in route.query.shape)
    return control.call(route.method, `${path}?organization=${organization}${requiredQuery(route)}`, {
      token,
      ...(body !== undefined && { body }),
    });
  if (route.query && 'api_key' in route.query.shape)
    return control.call(route.method, `${path}?api_key=${keyId}`, { token, ...(body !== undefined && { body }) });
  // A ticket is opened for the own organization; the requests in its example are not those of the caller.
  const isNamed = path !== '/v1/tickets';
  return control.call(route.method, path, { token, body: { ...(body as object), ...OF_OWNERS, ...(isNamed && { organization }) } });
};

// Routes know how far a role reaches and not the role, so the small size sends those that reach as far in turn.
const strangersFor = (route: ControlOperation, number: number): (keyof typeof others)[] => {
  const own = (['member'] as const).filter((role) => roleHas(role, route));
  const ofOrganization = (['viewer', 'billing', 'owner'] as const).filter((role) => roleHas(role, route));
  return [...own, ...sized([ofOrganization[number % ofOrganization.length] as 'owner'], ofOrganization)];
};

const ofTenants = restricted.filter(isOfATenant).map((route, number) => [nameOf(route), route, number] as const);
describe.each(ofTenants)('%s', (_, route, number) => {
  const allowed = strangersFor(route, number);

  test.each(allowed)('returns 404 for another organization’s resource to the role %s', async (role) => {
    const { status, body } = await requestResource(route, others[role].token);
    expect([status, body.error.code]).toEqual([404, expect.stringMatching(/_not_found$/)]);
    // An id of a request can have these letters by chance.
    expect(JSON.stringify(body.error)).not.toContain('Acme');
  });
});

describe.each(named(restricted.filter((route) => roleHas('owner', route))))('%s by an owner of a suspended organization', (_, route) => {
  const isOpen = route.method === 'GET' || route.isOpenToSuspended === true;

  test(isOpen ? 'is allowed' : 'returns 403 organization_suspended', async () => {
    const { status, body } = await send(route, suspended.token);
    const code = body?.error?.code;
    if (isOpen) expect(code).not.toBe('organization_suspended');
    else expect([status, code]).toEqual([403, 'organization_suspended']);
  });
});

// Admins cannot read logged content.
const tokenFor = (route: ControlOperation): string => (roleHas('admin', route) || route.access === 'public' ? admin : owner).token;
const typeFor = ({ errorShape }: ControlOperation): string => (errorShape === 'oauth' ? 'invalid_request' : 'invalid_request_error');
const typeOf = ({ errorShape }: ControlOperation, { error }: Answer['body']): unknown => (errorShape === 'oauth' ? error : error.type);

// control-matrix.test.ts sends the other routes with such a parameter.
describe.each(named(controlOperations.filter(({ access }) => access === 'public')))('%s', (_, route) => {
  test('rejects unknown query parameters without revealing internals', async () => {
    const { status, body } = await control.call(route.method, `${pathOf(route)}?unheard_of=1`, exampleRequest(route, tokenFor(route)));
    expect([status, typeOf(route, body)]).toEqual([400, typeFor(route)]);
    expect(JSON.stringify(body)).toMatch(/Unknown query parameter 'unheard_of'|Parameters in the URL are not accepted/);
    expect(JSON.stringify(body)).not.toMatch(/arn:|\.ts:|node_modules|at Object/);
  });
});

// One function reads the bodies of all routes with a session, so the small size sends each one of these, in turn.
const BROKEN_BODIES: readonly [kind: string, text: string][] = [
  ['that is empty', ''],
  ['that is not JSON', '{'],
  ['that is not an object', '[]'],
];
const brokenFor = ({ access }: ControlOperation, number: number) =>
  sized(
    BROKEN_BODIES.filter((_, index) => access === 'public' || index === number % BROKEN_BODIES.length),
    BROKEN_BODIES,
  );
const withBody = controlOperations.filter(({ body }) => body);

describe.each(withBody.map((route, number) => [nameOf(route), route, number] as const))('%s', (_, route, number) => {
  test.each([...brokenFor(route, number), ['with an unknown field', { unheard_of: 1 }] as const])(
    'rejects a body %s',
    async (_kind, sent) => {
      const body = typeof sent === 'string' ? sent : { ...(route.body?.example as object), ...sent };
      const { status, body: reply } = await control.call(route.method, pathOf(route), { token: tokenFor(route), headers: FROM_PAGE, body });
      expect([status, typeOf(route, reply)]).toEqual([400, typeFor(route)]);
    },
  );
});
