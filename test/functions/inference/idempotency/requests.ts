import { randomUUID } from 'node:crypto';
import type { ClaimingRequest, IdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Claim } from '../../../../functions/inference/idempotency/key-record.ts';
import type { StoredResult } from '../../../../functions/inference/idempotency/stored-result.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { unreliable } from '../../../support/faults/unreliable-database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

export const LEASE_MS = 60_000;

/** Attempts at one request with a key that no other test has. */
export const attempts = () => {
  const keyId = newId('key');
  const idempotencyKey = randomUUID();
  return (change: Partial<ClaimingRequest> = {}): ClaimingRequest => ({
    keyId,
    idempotencyKey,
    fingerprint: 'one',
    requestId: `req_${randomUUID()}`,
    leaseMs: LEASE_MS,
    ...change,
  });
};

/** The claim of an attempt that must succeed. */
export const claimedBy = async (store: IdempotencyStore, request: ClaimingRequest): Promise<Claim> => {
  const outcome = await store.claim(request);
  if ('replay' in outcome) throw new Error('The key was spent already.');
  return outcome.claimed;
};

export const resultFor = ({ requestId }: Claim, body = '{"choices":[]}'): StoredResult => ({
  requestId,
  contentType: 'application/json',
  body,
});

/** The database over a connection that loses the first reply to every call, so that each is sent twice. */
export const sendingTwice = (database: Database): Database => {
  let draws = 0;
  return unreliable(database, {
    lostRequests: 0,
    lostReplies: 0.5,
    // The proxy calls this first for the request and then for its reply.
    random: () => (draws++ === 1 ? 0 : 0.9),
    crash: () => {
      draws = 0;
      return false;
    },
  });
};

/** The database, with something else happening just before each update. */
export const interrupted = (database: Database, work: () => Promise<unknown>): Database => ({
  ...database,
  update: async (input) => {
    await work();
    return database.update(input);
  },
});
