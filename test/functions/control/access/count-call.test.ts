import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor, UserRole } from '../../../../functions/control/access/actor.ts';
import { CALL_LIMITS, type CallLimitName, callLimitOf, limitsOf, textForAll } from '../../../../functions/control/access/call-limits.ts';
import { createCallCounter } from '../../../../functions/control/access/count-call.ts';
import { controlRoutes } from '../../../../functions/control/routes.ts';
import { scimRoutes } from '../../../../functions/control/scim/scim-routes.ts';
import { ReservedConcurrency } from '../../../../infra/config/config.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { type ApiError, toWire } from '../../../../shared/http/errors.ts';
import { createQuotaStore } from '../../../../shared/quotas/quota-store.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const SECONDS_A_MINUTE = 60;

let emulator: TestDatabase;
let updates = 0;
beforeAll(async () => {
  emulator = await startTestDatabase();
});
afterAll(() => emulator.close());

const newEnvironment = () => {
  const { database, tables } = emulator;
  const counting = {
    ...database,
    update: async (input: Parameters<typeof database.update>[0]) => {
      updates++;
      return database.update(input);
    },
  };
  return createCallCounter(createQuotaStore(counting, tables.Attempts as string));
};

const actorOf = (role: UserRole, organization: string | null, userId = newId('user')): Actor => {
  const email = `${userId}@example.com`;
  const actor = { type: 'user', id: userId, email, organization } as const;
  return { userId, email, role, organization, maxApiKeys: 5, origin: { actor, requestId: 'req_1', ipAddress: '192.0.2.1', nowMs: NOON } };
};

// A call that waits for a thousand others can time out when it was counted already, and is then counted again.
const AT_ONCE = 100;

interface Calls {
  times: number;
  limits: readonly CallLimitName[];
  atMs?: number;
  resource?: string;
  environments?: ReturnType<typeof newEnvironment>[];
}

const makeCalls = async (
  actor: Actor,
  { times, limits, atMs = NOON, resource, environments = [newEnvironment()] }: Calls,
): Promise<ApiError[]> => {
  const rejected: ApiError[] = [];
  for (let from = 0; from < times; from += AT_ONCE) {
    const results = await Promise.allSettled(
      Array.from({ length: Math.min(AT_ONCE, times - from) }, (_, i) =>
        environments[i % environments.length]?.countCall(limits, { actor, resource }, atMs),
      ),
    );
    for (const result of results) if (result.status === 'rejected') rejected.push(result.reason as ApiError);
  }
  return rejected;
};

describe('limitsOf', () => {
  test('counts each route as a read, a search or a change, and all but GETs as changes', () => {
    for (const route of controlRoutes) {
      const limits = limitsOf(route);
      const kinds = limits.filter((name) => ['reads', 'searches', 'changes'].includes(name));
      const expected = route.access === 'public' ? 0 : 1;
      expect([route.operationId, kinds.length]).toEqual([route.operationId, expected]);
      if (expected === 1 && route.method !== 'GET') expect([route.operationId, ...kinds]).toEqual([route.operationId, 'changes']);
    }
  });

  test('limits a route without limits of its own', () => {
    expect(limitsOf({ method: 'DELETE', access: 'support' })).toEqual(['changes']);
    expect(limitsOf({ method: 'GET', access: 'admin' })).toEqual(['reads']);
  });

  test('names each limit in at least one route', () => {
    const named = [...controlRoutes.flatMap((route) => limitsOf(route)), ...scimRoutes.flatMap(({ limits }) => limits)];
    expect(new Set(named)).toEqual(new Set(Object.keys(CALL_LIMITS)));
  });
});

describe('countCall', () => {
  test('accepts a user’s calls up to the limit in all environments together, and the error names it', async () => {
    const member = actorOf('member', newId('organization'));
    const environments = [newEnvironment(), newEnvironment(), newEnvironment()];
    expect(await makeCalls(member, { times: 320, limits: ['changes'], environments })).toHaveLength(20);
    const rejected = await makeCalls(member, { times: 1, limits: ['changes'], environments: [newEnvironment()], atMs: NOON + 48_001 });
    expect(rejected[0]).toMatchObject({ status: 429, type: 'requests', code: 'rate_limit_exceeded', headers: { 'retry-after': '12' } });
    expect(toWire(rejected[0] as ApiError, 'req_1')).toMatchObject({
      error: { message: 'You can make 300 changes a minute. Try again in 12 s.' },
      request_id: 'req_1',
    });
    expect(await makeCalls(member, { times: 1, limits: ['changes'], environments, atMs: NOON + MINUTE_MS })).toEqual([]);
  });

  test('limits all users of an organization together, apart from those of other organizations', async () => {
    const organization = newId('organization');
    const [one, other, third] = [1, 2, 3].map(() => actorOf('member', organization)) as [Actor, Actor, Actor];
    expect(await makeCalls(one, { times: 300, limits: ['changes'] })).toEqual([]);
    expect(await makeCalls(other, { times: 300, limits: ['changes'] })).toEqual([]);
    const [rejected] = await makeCalls(third, { times: 1, limits: ['changes'] });
    expect(rejected?.message).toContain('Your organization can make 600 changes a minute.');
    expect(await makeCalls(actorOf('member', newId('organization')), { times: 1, limits: ['changes'] })).toEqual([]);
  });

  test('takes nothing from the organization for calls that a user’s own limit rejects', async () => {
    const organization = newId('organization');
    expect(await makeCalls(actorOf('owner', organization), { times: 900, limits: ['changes'] })).toHaveLength(600);
    expect(await makeCalls(actorOf('owner', organization), { times: 300, limits: ['changes'] })).toEqual([]);
  });

  test('bounds an organization’s changes in a day, and so its audit log', async () => {
    const organization = newId('organization');
    const { tables, database } = emulator;
    const quotas = createQuotaStore(database, tables.Attempts as string);
    const quota = { kind: 'changes/account', span: 'day', account: organization, max: 20_000, by: 19_999 } as const;
    await quotas.count(quota, NOON);
    const rejected = await makeCalls(actorOf('owner', organization), { times: 2, limits: ['changes'] });
    expect(rejected.map(({ message, headers }) => [message, headers['retry-after']])).toEqual([
      ['Your organization can make 20,000 changes a day. Try again in 43200 s.', '43200'],
    ]);
  });

  test('limits admins and support too, with higher numbers', async () => {
    const admin = actorOf('admin', null);
    const rejected = await makeCalls(admin, { times: 1_201, limits: ['changes'] });
    expect(rejected.map(({ message }) => message)).toEqual([expect.stringContaining('You can make 1,200 changes a minute.')]);
    expect(await makeCalls(actorOf('support', null), { times: 601, limits: ['ticket_messages'] })).toHaveLength(1);
  });

  test('writes once for rejected calls in an environment, and then nothing', async () => {
    const organization = newId('organization');
    const users = Array.from({ length: 10 }, () => actorOf('member', organization));
    for (const user of users) await makeCalls(user, { times: 10, limits: ['searches'] });
    const environment = newEnvironment();
    await makeCalls(actorOf('member', organization), { times: 1, limits: ['searches'], environments: [environment] });
    updates = 0;
    for (const user of users)
      expect(await makeCalls(user, { times: 5, limits: ['searches'], environments: [environment] })).toHaveLength(5);
    expect(updates).toBe(0);
  });

  test('counts reads twenty at a time, never more than the limit', async () => {
    const member = actorOf('member', newId('organization'));
    const environments = [newEnvironment(), newEnvironment()];
    updates = 0;
    for (let i = 0; i < 40; i++) expect(await makeCalls(member, { times: 1, limits: ['reads'], environments })).toEqual([]);
    // Two counts in two environments, and one write more for the first of each.
    expect(updates).toBe(6);
    let accepted = 40;
    for (let i = 0; i < 1_100; i++) {
      const environment = environments[i % 2] as (typeof environments)[number];
      accepted += 1 - (await makeCalls(member, { times: 1, limits: ['reads'], environments: [environment] })).length;
    }
    expect(accepted).toBe(1_000);
  });

  test.each(
    (Object.keys(CALL_LIMITS) as CallLimitName[]).flatMap((name) =>
      callLimitOf(name)
        .bounds.filter(({ max, countedAtOnce }) => max <= 200 && countedAtOnce === undefined)
        .map((bound) => [name, bound] as const),
    ),
  )('accepts calls as often as the limit %s says: %j', async (name, bound) => {
    const organization = newId('organization');
    const counter = newEnvironment();
    // Several users share each bound but that of a user.
    const users = Array.from({ length: 4 }, () => actorOf('member', organization));
    let accepted = 0;
    for (let i = 0; i <= bound.max; i++) {
      const actor = users[bound.per === 'user' ? 0 : i % users.length] as Actor;
      const call = { actor, resource: 'wh_1', recipient: `${organization}@example.com` };
      accepted += await counter.countByRule(name, call, NOON).then(
        () => 1,
        ({ status }: ApiError) => (status === 429 ? 0 : Number.NaN),
      );
    }
    expect(accepted).toBe(bound.max);
  });

  test('accepts reads and searches while the database takes no writes, but no changes', async () => {
    const owner = actorOf('owner', newId('organization'));
    const environments = [createCallCounter({ count: () => Promise.reject(new DatabaseUnavailable(new Error('It is down.'))) })];
    for (const limits of [['reads'], ['searches']] as const)
      expect(await makeCalls(owner, { times: 50, limits, environments })).toEqual([]);
    expect(await makeCalls(owner, { times: 1, limits: ['changes'], environments })).toMatchObject([{ status: 503 }]);
  });

  test('counts tests of a webhook for this webhook, and for no other organization that names it', async () => {
    const owner = actorOf('owner', newId('organization'));
    const stranger = actorOf('owner', newId('organization'));
    expect(await makeCalls(stranger, { times: 12, limits: ['webhook_tests'], resource: 'wh_1' })).toHaveLength(2);
    expect(await makeCalls(owner, { times: 10, limits: ['webhook_tests'], resource: 'wh_1' })).toEqual([]);
    const [rejected] = await makeCalls(owner, { times: 1, limits: ['webhook_tests'], resource: 'wh_1' });
    expect(rejected?.message).toContain('This webhook can be tested 10 times a minute.');
    expect(await makeCalls(owner, { times: 1, limits: ['webhook_tests'], resource: 'wh_2' })).toEqual([]);
  });
});

// Assumed averages of a call's longest duration, in seconds, as decision 0080 says.
const SECONDS = { reads: 0.1, searches: 1.3, changes: 0.2, aws_calls: 20 } as const;
const SCIM_SECONDS = { scim_reads: 0.1, scim_changes: 0.2 } as const;

// Only a limit that all users and connections of the organization share bounds it.
const shareOf = (secondsOf: Readonly<Record<string, number>>): number => {
  const held = Object.entries(secondsOf).map(([name, seconds]) => {
    const bounds = callLimitOf(name as CallLimitName).bounds.filter(
      ({ span, per }) => span === 'minute' && (per === 'organization' || per === 'account'),
    );
    return seconds * (bounds.at(-1)?.max ?? Number.POSITIVE_INFINITY);
  });
  return held.reduce((sum, seconds) => sum + seconds) / (ReservedConcurrency.parse({}).control * SECONDS_A_MINUTE);
};

test('limits an organization to half of the environments of `control`, with all its limits used at once', () => {
  expect(shareOf(SECONDS)).toBeLessThanOrEqual(0.5);
});

test('limits an organization to three quarters of them, with the limits of SCIM used as well', () => {
  expect(shareOf({ ...SECONDS, ...SCIM_SECONDS })).toBeLessThanOrEqual(0.75);
});

test('textForAll names the number of the platform’s users, if it differs', () => {
  expect(callLimitOf('changes').bounds.map(textForAll)).toEqual([
    'A user can make 300 changes a minute (users of the platform: 1,200)',
    'An organization can make 600 changes a minute',
    'An organization can make 20,000 changes a day (users of the platform: 50,000)',
  ]);
});

test('docs/control-plane.md lists every limit with its numbers', () => {
  const [, section = ''] = readFileSync('docs/control-plane.md', 'utf8').split('\n## Limits of calls\n');
  const cells = section
    .slice(0, section.indexOf('\n## '))
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|')[2]?.trim());
  const [, , ...rows] = cells;
  expect(rows).toEqual(
    Object.keys(CALL_LIMITS).map((name) =>
      callLimitOf(name as CallLimitName)
        .bounds.map(textForAll)
        .join('; '),
    ),
  );
});
