import { expect, test } from '@jest/globals';
import type { SQSRecord } from 'aws-lambda';
import { createResetRequests, mailResetCodes } from '../../../functions/sign-in/reset-mails.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';

const statuses: Record<string, 'active' | 'disabled'> = { 'ada@example.com': 'active', 'bob@example.com': 'disabled' };

const request = async (...emails: string[]) => {
  const bodies: string[] = [];
  const requests = createResetRequests({ send: async ({ body }) => void bodies.push(body) });
  for (const email of emails) await requests.add(email);
  const mailed: string[] = [];
  const users = {
    idOfEmail: async (email: string) => (email in statuses ? email : undefined),
    get: async (id: string) => ({ status: statuses[id] }) as StoredUser,
  } as Partial<UserStore> as UserStore;
  const userPool = { startReset: async (email: string) => void mailed.push(email) } as Partial<UserPool> as UserPool;
  const Records = bodies.map((body, i) => ({ messageId: String(i), body }) as SQSRecord);
  const result = await queueMessages(mailResetCodes({ users, userPool })).before({ event: { Records }, context: {} });
  return { mailed, result };
};

test('a code is mailed to an active user, and the identity provider is not called for any other address', async () => {
  const { mailed, result } = await request('nobody@example.com', 'ada@example.com', 'bob@example.com');
  expect(mailed).toEqual(['ada@example.com']);
  expect(result).toEqual({ batchItemFailures: [] });
});
