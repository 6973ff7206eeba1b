import { expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { createResetRequests, mailResetCodes } from '../../../functions/sign-in/reset-mails.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';

const statuses: Record<string, 'active' | 'disabled'> = {
  'ada@example.com': 'active',
  'bob@example.com': 'disabled',
  'eve@example.com': 'active',
  'gil@example.com': 'active',
};
const organizations: Record<string, string> = {
  'ada@example.com': 'org_open',
  'eve@example.com': 'org_enforced',
  'gil@example.com': 'org_enforced',
};

const closed: Record<string, boolean> = { org_enforced: true };

const request = async (...emails: string[]) => {
  const bodies: string[] = [];
  const requests = createResetRequests({ send: async ({ body }) => void bodies.push(body) });
  for (const email of emails) await requests.add(email);
  const mailed: string[] = [];
  const users = {
    idOfEmail: async (email: string) => (email in statuses ? email : undefined),
    get: async (id: string) => ({ id, status: statuses[id], organization: organizations[id] ?? null }) as StoredUser,
  } as Partial<UserStore> as UserStore;
  const userPool = { startReset: async (email: string) => void mailed.push(email) } as Partial<UserPool> as UserPool;
  const identityProviders = {
    passwordRule: async (organization: string) => ({ isClosed: closed[organization] === true, breakGlass: ['gil@example.com'] }),
  };
  const Records = bodies.map((body, i) => ({ messageId: String(i), body }) as SQSRecord);
  const result = await queueMessages(mailResetCodes({ users, userPool, identityProviders })).before({ event: { Records }, context: {} });
  return { mailed, result };
};

test('a code is mailed to an active user, and the identity provider is not called for any other address', async () => {
  const { mailed, result } = await request('nobody@example.com', 'ada@example.com', 'bob@example.com');
  expect(mailed).toEqual(['ada@example.com']);
  expect(result).toEqual({ batchItemFailures: [] });
});

test('a code is mailed to the break-glass owner alone while an identity provider is enforced', async () => {
  expect((await request('eve@example.com', 'gil@example.com')).mailed).toEqual(['gil@example.com']);
});

test('a request for a code is a 503 if the queue can’t be reached', async () => {
  const requests = createResetRequests({ send: () => Promise.reject(new Error('connect ECONNREFUSED')) });
  await expect(requests.add('ada@example.com')).rejects.toMatchObject({ status: 503, code: 'service_unavailable' });
});
