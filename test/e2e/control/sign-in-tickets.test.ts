import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import type { PoolClient } from '../../../shared/identity/pool-clients.ts';
import { createSignInTickets, type SignInTickets } from '../../../shared/identity/sign-in-tickets.ts';
import { createUserPool, createUserPoolClient, type UserPool } from '../../../shared/identity/user-pool.ts';
import { caller, tokensOf } from '../../shared/identity/user-fixtures.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { startUsers, type Users } from './user-fixtures.ts';

let users: Users;
let userPool: UserPool;
let tickets: SignInTickets;
let clientIds: Record<PoolClient, string>;
beforeAll(async () => {
  users = await startUsers();
  const { run } = users;
  const [{ id: poolId, clients } = { id: '', clients: [] }] = interpret(await readAssembly(assemblyDir())).userPools;
  const [api = '', machine = '', browser = ''] = clients.map(({ id }) => id);
  clientIds = { api, machine, browser };
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = createUserPoolClient({ endpoint: run.cognito_endpoint as string, region: 'us-east-1', credentials });
  userPool = createUserPool(client, { poolId, clientIds });
  tickets = createSignInTickets(run.database, run.tables.Attempts as string);
});
afterAll(async () => {
  await users.run.close();
});

const subjectOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }).sub;
const member = async () => {
  const user = await users.control.createUser({ role: 'member', organization: users.organization });
  return { ...user, subject: subjectOf(user.token) };
};
const signIn = (subject: string, ticket: string, client: PoolClient = 'machine') =>
  userPool.signInWithTicket({ subject, ticket, client, caller });
const me = (token: string) => users.control.call('GET', '/v1/me', { token });

describe('a sign-in with a ticket', () => {
  test('gives a token that control accepts', async () => {
    const { subject, id } = await member();
    const { accessToken } = tokensOf(await signIn(subject, await tickets.issue(subject, Date.now())));
    expect(await me(accessToken)).toMatchObject({ status: 200, body: { id } });
  });

  test.each<PoolClient>(['api', 'browser'])('gives tokens with a session to the client %s', async (client) => {
    const { subject } = await member();
    const { refreshToken, sessionId } = tokensOf(await signIn(subject, await tickets.issue(subject, Date.now()), client));
    expect([refreshToken, sessionId]).toEqual([expect.any(String), expect.stringMatching(/^ses_/)]);
  });

  test('is refused with a used, expired or foreign ticket', async () => {
    const [one, other] = [await member(), await member()];
    const now = Date.now();
    const used = await tickets.issue(one.subject, now);
    tokensOf(await signIn(one.subject, used));
    for (const ticket of [used, await tickets.issue(one.subject, now - 60_000), await tickets.issue(other.subject, now)])
      expect(await signIn(one.subject, ticket)).toBeUndefined();
  });

  test('is refused for a disabled user, whose earlier token ends too', async () => {
    const user = await member();
    const { accessToken } = tokensOf(await signIn(user.subject, await tickets.issue(user.subject, Date.now())));
    await users.control.done('PATCH', `/v1/users/${user.id}`, { token: users.owner.token, body: { status: 'disabled' } });
    expect((await me(accessToken)).status).toBe(401);
    expect(await signIn(user.subject, await tickets.issue(user.subject, Date.now()))).toBeUndefined();
  });

  test('keeps the ticket out of the logs', async () => {
    const { subject } = await member();
    const ticket = await tickets.issue(subject, Date.now());
    tokensOf(await signIn(subject, ticket));
    expect(await users.run.logOf('auth-challenge')).not.toContain(ticket);
  });
});
