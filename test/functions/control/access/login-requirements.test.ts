import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { SecondFactorRequired } from '../../../../functions/control/access/actor.ts';
import {
  FreshLoginRequired,
  type Login,
  organizationOf,
  requireFreshLogin,
  requireSecondFactor,
} from '../../../../functions/control/access/login-requirements.ts';
import { controlRoutes } from '../../../../functions/control/routes.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const loginOf = ({
  kind,
  organization = 'org_1' as string | null,
  ...login
}: Partial<Omit<Login, 'actor'>> & { kind?: 'service_account'; organization?: string | null }): Login => ({
  actor: {
    userId: 'user_1',
    email: 'ada@example.com',
    role: 'owner',
    organization,
    maxApiKeys: 5,
    origin: { actor: { type: 'user', id: 'user_1', email: null, organization }, requestId: null, ipAddress: null, nowMs: NOW },
    ...(kind && { kind }),
  },
  ...login,
});

const organizationWith = (facts: { require_second_factor?: boolean; fresh_login_minutes?: number }) => async () => ({
  status: 'active' as const,
  ...facts,
});
const ago = (minutes: number): number => NOW / 1_000 - minutes * 60;

describe('requireSecondFactor', () => {
  const required = organizationWith({ require_second_factor: true });

  test('rejects a person without one in an organization that requires it', async () => {
    await expect(requireSecondFactor(loginOf({ hasSecondFactor: false }), required)).rejects.toThrow(SecondFactorRequired);
  });

  test.each([
    ['a person who has one', { hasSecondFactor: true }, required],
    ['a service account', { kind: 'service_account' as const }, required],
    ['a person of an organization that does not require it', { hasSecondFactor: false }, organizationWith({})],
    ['a person of no organization', { hasSecondFactor: false, organization: null }, async () => undefined],
  ])('accepts %s', async (_title, login, organization) => {
    await expect(requireSecondFactor(loginOf(login), organization)).resolves.toBeUndefined();
  });

  test('reads no organization for a person who has one', async () => {
    const reads: string[] = [];
    const read = async (id: string) => {
      reads.push(id);
      return { status: 'active' as const };
    };
    const login = loginOf({ hasSecondFactor: true });
    await requireSecondFactor(login, organizationOf({ get: read }, login.actor));
    expect(reads).toEqual([]);
    const organization = organizationOf({ get: read }, login.actor);
    await Promise.all([organization(), organization()]);
    expect(reads).toEqual(['org_1']);
  });
});

describe('requireFreshLogin', () => {
  test.each([
    ['a login of the last 12 hours', { provedAt: ago(720) }, organizationWith({})],
    ['a proof within the time of the organization', { provedAt: ago(5) }, organizationWith({ fresh_login_minutes: 5 })],
    ['a service account', { kind: 'service_account' as const }, organizationWith({ fresh_login_minutes: 5 })],
  ])('accepts %s', async (_title, login, organization) => {
    await expect(requireFreshLogin(loginOf(login), organization)).resolves.toBeUndefined();
  });

  test.each([
    ['a login of 13 hours ago', { provedAt: ago(780) }, organizationWith({})],
    ['the same of somebody who works for the platform', { provedAt: ago(780), organization: null }, async () => undefined],
    ['a proof before the time of the organization', { provedAt: ago(6) }, organizationWith({ fresh_login_minutes: 5 })],
    ['a login of an unknown time', {}, organizationWith({})],
  ])('rejects %s', async (_title, login, organization) => {
    await expect(requireFreshLogin(loginOf(login), organization)).rejects.toThrow(FreshLoginRequired);
  });
});

describe('the routes that change who can sign in, and with which rights', () => {
  // It changes nothing.
  const OPEN = ['testIdentityProvider'];
  const changes = controlRoutes.filter(
    ({ method, access, operationId }) =>
      ['service_accounts:write', 'identity_providers:write', 'users:write'].includes(access) &&
      method !== 'GET' &&
      !OPEN.includes(operationId),
  );

  test('require a fresh login', () => {
    expect(changes.length).toBeGreaterThanOrEqual(15);
    expect(changes.filter(({ needsFreshLogin }) => !needsFreshLogin).map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('the routes that set a price', () => {
  // Nothing is charged by it.
  const OPEN = ['addInstanceCost'];
  const setsPrice = ({ body }: (typeof controlRoutes)[number]): boolean =>
    body !== undefined &&
    /"per_(?:million|hour)"/.test(JSON.stringify(z.toJSONSchema(body.schema, { io: 'input', unrepresentable: 'any' })));
  const changes = controlRoutes.filter((route) => setsPrice(route) && !OPEN.includes(route.operationId));

  test('require a fresh login', () => {
    expect(changes.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(['createPrice', 'addInstancePrice']));
    expect(changes.filter(({ needsFreshLogin }) => !needsFreshLogin).map(({ operationId }) => operationId)).toEqual([]);
  });
});
