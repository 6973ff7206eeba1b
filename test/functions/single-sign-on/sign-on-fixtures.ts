import { createHash, randomBytes } from 'node:crypto';
import { OAuth2Server } from 'oauth2-mock-server';
import { browserSingleSignOnRoutes } from '../../../functions/single-sign-on/browser-routes.ts';
import { createIssuerCalls } from '../../../functions/single-sign-on/issuer-calls.ts';
import { orPage } from '../../../functions/single-sign-on/page-of-failure.ts';
import { createRecordEvent } from '../../../functions/single-sign-on/record-event.ts';
import { createRecordRefusal } from '../../../functions/single-sign-on/record-refusal.ts';
import { type SingleSignOnDependencies, singleSignOnPages, singleSignOnRoutes } from '../../../functions/single-sign-on/routes.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createFederation } from '../../../shared/federation/federation.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import { SSO_PATHS } from '../../../shared/identity/auth-paths.ts';
import { createLoginAttempts } from '../../../shared/identity/login-attempts.ts';
import { createSessionStore } from '../../../shared/identity/session-store.ts';
import { createSignInTickets } from '../../../shared/identity/sign-in-tickets.ts';
import { userIdOf } from '../../../shared/identity/user.ts';
import { createUserDirectory } from '../../../shared/identity/user-directory.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { createUserStore, type StoredUser } from '../../../shared/identity/user-store.ts';
import { toErrorReply } from '../../../shared/middleware/error-replies.ts';
import { createQuotaStore } from '../../../shared/quotas/quota-store.ts';
import { createIdentityLinks } from '../../../shared/single-sign-on/identity-links.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { createIdentityProviderEvents } from '../../../shared/single-sign-on/identity-provider-events.ts';
import { createIdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { createSsoLogins } from '../../../shared/single-sign-on/sso-logins.ts';
import { identityProvider } from '../../shared/single-sign-on/identity-providers.ts';
import { startTestDatabase } from '../../support/emulators/database.ts';
import { ISSUER } from '../../support/fixtures/stored-users.ts';

export const CONTROL = 'https://control.example.com/live';
export const LOOPBACK = 'http://127.0.0.1:53682/done';
/** The address of the tests' browsers. */
export const BROWSER_ADDRESS = '192.0.2.7';
const EXEMPT = '127.0.0.0/8,::1/128';

let created = 0;
/** A text that no other test of the file has. */
export const unique = (text: string): string => {
  created += 1;
  return `${text}${created}`;
};

/** An identity provider of a test: it signs everyone in, with the claims that the test sets. */
export const startMockProvider = async () => {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const state = { claims: {} as Record<string, unknown>, tokenRequests: [] as Record<string, unknown>[] };
  server.service.on('beforeTokenSigning', ({ payload }: { payload: Record<string, unknown> }) => Object.assign(payload, state.claims));
  return { server, issuer: String(server.issuer.url), state, close: () => server.stop() };
};
export type MockProvider = Awaited<ReturnType<typeof startMockProvider>>;

// Knows who was created, and signs in whoever has a ticket, or has an authenticator app.
const createPool = (tickets: ReturnType<typeof createSignInTickets>) => {
  const subjects = new Map<string, string>();
  const calls: string[] = [];
  const withTotp = new Set<string>();
  const pool: Partial<UserPool> = {
    createSilentUser: async (email) => {
      calls.push(`createSilentUser ${email}`);
      const isNew = !subjects.has(email);
      const subject = subjects.get(email) ?? email;
      subjects.set(email, subject);
      return { subject, isNew };
    },
    renewUser: async ({ email }) => void calls.push(`renewUser ${email}`),
    signInWithTicket: async ({ subject, ticket }) => {
      if (!(await tickets.redeem(ticket, subject, Date.now()))) return undefined;
      if (withTotp.has(subject)) return { challenge: 'totp', session: `session of ${subject}` };
      const sessionId = `ses_${'s'.repeat(18)}`;
      return {
        tokens: { subject, accessToken: 'access', refreshToken: 'refresh', expiresInSeconds: 3_600, sessionId, authenticatedAt: 1 },
      };
    },
  };
  return { pool: pool as UserPool, subjects, calls, withTotp };
};

/** The function with a database, with connections that a test adds. */
export const startSingleSignOn = async () => {
  const test = await startTestDatabase();
  const { database, tables } = test;
  const [attemptsTable, accountsTable] = [tables.Attempts as string, tables.Accounts as string];
  const accounts = createRecordTable(database, accountsTable);
  const tickets = createSignInTickets(database, attemptsTable);
  const pool = createPool(tickets);
  const users = createUserStore(accounts);
  const quotas = createQuotaStore(database, attemptsTable);
  const attempts = createLoginAttempts(database, attemptsTable);
  const audit = createAuditStore(createRecordTable(database, tables.Audit as string));
  const entries: string[] = [];
  const providers = createIdentityProviderStore(accounts);
  const events = createIdentityProviderEvents(database, accountsTable, accounts);
  const clock = { now: Date.now };
  const now = (): number => clock.now();
  const sessions = createSessionStore(accounts);
  const deps: SingleSignOnDependencies = {
    database,
    accounts,
    audit: {
      ...audit,
      toAppend: (entry) => {
        entries.push(entry.reason === null ? entry.action : `${entry.action} ${entry.reason}`);
        return audit.toAppend(entry);
      },
    },
    users,
    directory: createUserDirectory(accounts),
    links: createIdentityLinks(accounts),
    sessions,
    providers,
    attempts,
    quotas,
    logins: createSsoLogins(database, attemptsTable),
    tickets,
    ...createIssuerCalls(createFederation(EXEMPT, now), { database, table: attemptsTable, quotas, attempts, now }),
    clientSecretOf: async ({ client_secret_version: version }) => version ?? undefined,
    recordRefusal: async () => undefined,
    recordEvent: createRecordEvent({ events, providers, quotas }),
    userPool: pool.pool,
    issuer: ISSUER,
    controlUrl: CONTROL,
    now,
    wait: async () => undefined,
  };
  deps.recordRefusal = createRecordRefusal({ database, audit: deps.audit, quotas });

  const addUser = async (fields: Partial<StoredUser> & Pick<StoredUser, 'email' | 'organization'>): Promise<StoredUser> => {
    const subject = unique('subject');
    const user: StoredUser = {
      id: userIdOf(ISSUER, subject),
      object: 'user',
      name: null,
      role: 'member',
      status: 'active',
      max_api_keys: 5,
      last_login_at: 1,
      created_at: 1,
      updated_at: 1,
      version: 1,
      subject,
      tokens_valid_from: 0,
      ...fields,
    };
    pool.subjects.set(user.email, subject);
    await users.claimEmail(user.email, user.id, Date.now());
    await transact(database, users.toCreate(user, user.id));
    return user;
  };

  /** Remembers the network of the browsers, so that several of them can sign in at the same time. */
  const knowNetwork = ({ id }: IdentityProvider) => attempts.know({ kind: 'sso', ipAddress: BROWSER_ADDRESS, account: id }, now());

  /** Adds an organization with a connection that has verified a domain of its own. */
  const addConnection = async (issuer: string, fields: Partial<IdentityProvider> = {}) => {
    const organization = unique('org_');
    const domain = `${unique('d')}.example.com`;
    const provider = identityProvider({
      organization,
      issuer,
      domains: [{ domain, token: 't', verified_at: 1 }],
      default_role: 'member',
      ...fields,
    });
    await transact(database, [
      ...providers.toCreate(provider),
      providers.toHoldDomain(provider, domain),
      accounts.toPut({ account: organization, record: 'organization' }, { id: organization, status: 'active' }),
    ]);
    return { provider, organization, domain };
  };

  return {
    ...test,
    deps,
    sessions,
    entries,
    pool,
    clock,
    providers,
    events,
    users,
    addUser,
    addConnection,
    knowNetwork,
    browser: () => createBrowser(deps, now),
  };
};
export type SingleSignOn = Awaited<ReturnType<typeof startSingleSignOn>>;

// As a page of the host sends them.
export const FROM_PAGE = { host: 'control.example.com', 'x-sluice-console': '1', 'sec-fetch-site': 'same-origin' };

interface Sent {
  method?: string;
  url: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
}

const eventOf = ({ method = 'GET', url, body, headers }: Sent, cookie: string, nowMs: number): ApiEvent => {
  const { pathname, searchParams } = new URL(url);
  const path = pathname.replace('/live', '');
  const many: Record<string, string[]> = {};
  for (const [name, value] of searchParams) many[name] = [...(many[name] ?? []), value];
  return {
    resource: path,
    path,
    httpMethod: method,
    headers: { 'content-type': 'application/json', cookie, ...headers },
    queryStringParameters: searchParams.size > 0 ? Object.fromEntries(searchParams) : null,
    multiValueQueryStringParameters: searchParams.size > 0 ? many : null,
    requestContext: { requestId: 'gateway', identity: { sourceIp: BROWSER_ADDRESS, userAgent: 'test' } },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestId: 'req_1',
    receivedAtMs: nowMs,
  } as unknown as ApiEvent;
};

interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Readonly<Record<string, string>>;
}

type Destination = { redirect_uri: string } | { return_to: string };

// A browser with its cookie, and a program on the same machine.
const createBrowser = (deps: SingleSignOnDependencies, now: () => number) => {
  let cookie = '';
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');

  const load = async (url: string): Promise<Reply> => {
    const page = singleSignOnPages[new URL(url).pathname.replace('/live', '')];
    if (!page) throw new Error(`No page has the address ${url}.`);
    const reply = await orPage((event) => page(deps, event))(eventOf({ url }, cookie, now()));
    cookie = reply.headers['set-cookie']?.split(';')[0] ?? cookie;
    return reply;
  };

  const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const event = eventOf({ method: 'POST', url: CONTROL + path, body, headers }, '', now());
    const route = [...singleSignOnRoutes, ...browserSingleSignOnRoutes].find((each) => each.path === path);
    const reply = await Promise.resolve(route?.handle(deps, event)).catch((error: unknown) => toErrorReply(error, event));
    return { status: reply?.statusCode ?? 0, body: JSON.parse(reply?.body ?? '{}'), headers: reply?.headers ?? {} };
  };

  const begin = async (email: string, destination: Destination = { redirect_uri: LOOPBACK }): Promise<string> => {
    const { body } = await post(SSO_PATHS.begin, { email, code_challenge: challenge, ...destination });
    return String(body.authorize_url);
  };

  /** Goes to the identity provider. @returns the address to which it sends the browser back */
  const signInAt = async (authorizeUrl: string): Promise<string> => {
    const { location } = (await load(authorizeUrl)).headers;
    if (location === undefined) throw new Error('The login was not sent to the identity provider.');
    const answer = await fetch(location, { redirect: 'manual' });
    return String(answer.headers.get('location'));
  };

  return {
    verifier,
    load,
    post,
    begin,
    signInAt,
    hasCookie: (): boolean => cookie !== '',
    /** The whole login up to the reply of the callback. */
    login: async (email: string, destination?: Destination): Promise<Reply> => load(await signInAt(await begin(email, destination))),
    exchange: (reply: Reply, code_verifier = verifier) =>
      post(SSO_PATHS.session, { code: new URL(reply.headers.location ?? '').searchParams.get('code'), code_verifier }),
  };
};
