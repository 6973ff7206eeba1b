import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createIdempotencyStore, type IdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Claim } from '../../../../functions/inference/idempotency/key-record.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { failing } from '../../../support/faults/unreliable-database.ts';
import { attempts, claimedBy, interrupted, LEASE_MS, resultFor, sendingTwice } from './requests.ts';

const START = 1_700_000_000_000;
const inProgress = { status: 409, code: 'idempotency_in_progress' };
const reused = { status: 422, code: 'idempotency_key_reused' };
const notStored = { status: 409, code: 'idempotent_result_not_stored' };

let database: TestDatabase;
let store: IdempotencyStore;
let nowMs = START;
const storeOver = (line: Database) => createIdempotencyStore(line, database.tables.Responses as string, () => nowMs);
beforeAll(async () => {
  database = await startTestDatabase();
  store = storeOver(database.database);
});
beforeEach(() => {
  nowMs = START;
});
afterAll(async () => {
  await database.close();
});

describe('a claim', () => {
  test('belongs to the first request; until it completes, the same request must wait', async () => {
    const request = attempts();
    const first = request();
    expect(await store.claim(first)).toEqual({
      claimed: { id: expect.stringContaining(first.keyId), holder: first.requestId, requestId: first.requestId, takenOver: false },
    });
    nowMs += 57_000;
    await expect(store.claim(request())).rejects.toMatchObject({
      ...inProgress,
      headers: { 'retry-after': '3', 'retry-after-ms': '3000' },
    });
  });

  test('returns the same result every time, read-only too', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    const result = { ...resultFor(claim, '{"text":"é👋\\ud83d"}'), ignored: 'user, seed' };
    expect(await store.find(request())).toBeUndefined();
    expect(await store.complete(claim, result)).toEqual({ stored: true });
    for (let time = 0; time < 2; time++) expect(await store.claim(request())).toEqual({ replay: result });
    expect(await store.find(request())).toEqual(result);
  });

  test('rejects a different request with the same key, during the first request and after it', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    const other = request({ fingerprint: 'other' });
    await expect(store.claim(other)).rejects.toMatchObject(reused);
    nowMs += LEASE_MS;
    await expect(store.claim(other)).rejects.toMatchObject(reused);
    await store.complete(claim, resultFor(claim));
    await expect(store.claim(other)).rejects.toMatchObject(reused);
    expect(await store.find(other)).toBeUndefined();
  });

  test('is separate from the same idempotency key of another API key', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    await store.complete(claim, resultFor(claim));
    const stranger = request({ keyId: 'key_other' });
    expect(await store.find(stranger)).toBeUndefined();
    expect((await claimedBy(store, stranger)).holder).toBe(stranger.requestId);
  });

  test('succeeds for one of many concurrent requests', async () => {
    const request = attempts();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => store.claim(request())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('stores nothing that the caller sent', async () => {
    const request = attempts()({ idempotencyKey: 'order-of-mrs-miller' });
    await store.claim(request);
    const { Items } = await database.sdk.scan({ TableName: database.tables.Responses as string });
    expect(JSON.stringify(Items)).not.toContain('miller');
  });
});

describe('a completed request', () => {
  test('never changes', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    const result = resultFor(claim, 'first');
    expect(await store.complete(claim, result)).toEqual({ stored: true });
    nowMs += 1;
    for (const other of [resultFor(claim, 'second'), undefined]) expect(await store.complete(claim, other)).toBe(false);
    await expect(store.restart(claim, 'req_new')).rejects.toMatchObject(inProgress);
    expect(await store.claim(request())).toEqual({ replay: result });
  });
});

describe('a key 24 hours after its first claim', () => {
  test('is new again, and not before', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    nowMs += LEASE_MS / 2;
    await store.complete(claim, resultFor(claim));
    nowMs = START + DAY_MS - 1_000;
    expect(await store.claim(request())).toEqual({ replay: resultFor(claim) });
    nowMs = START + DAY_MS;
    expect(await store.find(request())).toBeUndefined();
    const next = request({ fingerprint: 'other' });
    expect(await claimedBy(store, next)).toEqual({ ...claim, holder: next.requestId, requestId: next.requestId });
    expect(await store.complete(claim, resultFor(claim))).toBe(false);
  });

  test('is new again even if it was taken over in between', async () => {
    const request = attempts();
    await store.claim(request());
    nowMs += DAY_MS - 10_000;
    expect(await claimedBy(store, request())).toMatchObject({ takenOver: true });
    nowMs += 10_000;
    expect(await claimedBy(store, request())).toMatchObject({ takenOver: false });
  });
});

describe('a result that is not stored', () => {
  const spent = async (complete: (claim: Claim) => Promise<unknown>): Promise<void> => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    expect(await complete(claim)).toEqual({ stored: false });
    await expect(store.claim(request())).rejects.toMatchObject({ ...notStored, message: expect.stringContaining(claim.requestId) });
    expect(await store.find(request())).toBeUndefined();
  };

  test('still uses up the key if content must not be stored', () => spent((claim) => store.complete(claim, undefined)));

  test('still uses up the key if it has more than 256 KB compressed', () =>
    spent((claim) => store.complete(claim, resultFor(claim, randomBytes(265_000).toString('base64')))));

  test('still uses up the key if it has more than 16 MB uncompressed', () =>
    spent((claim) => store.complete(claim, resultFor(claim, 'é'.repeat(9 * 1024 * 1024)))));

  test('is never one that is just small enough', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    const result = resultFor(claim, randomBytes(255_000).toString('base64'));
    expect(await store.complete(claim, result)).toEqual({ stored: true });
    expect(await store.claim(request())).toEqual({ replay: result });
  });
});

describe('an attempt whose lease has expired', () => {
  test('is taken over, and is still billed under its own id', async () => {
    const request = attempts();
    const first = await claimedBy(store, request());
    nowMs += LEASE_MS - 1;
    await expect(store.claim(request())).rejects.toMatchObject(inProgress);
    nowMs += 1;
    const next = request();
    const second = await claimedBy(store, next);
    expect(second).toEqual({ ...first, holder: next.requestId, takenOver: true });
    expect(second.requestId).toBe(first.holder);
  });

  test('can no longer complete the request once it was taken over; the new attempt can', async () => {
    const request = attempts();
    const first = await claimedBy(store, request());
    nowMs += LEASE_MS;
    const second = await claimedBy(store, request());
    expect(await store.complete(first, resultFor(first, 'late'))).toBe(false);
    await store.abandon(first);
    await expect(store.restart(first, 'req_new')).rejects.toMatchObject(inProgress);
    await expect(store.claim(request())).rejects.toMatchObject(inProgress);
    expect(await store.complete(second, resultFor(second, 'mine'))).toEqual({ stored: true });
    expect(await store.claim(request())).toEqual({ replay: resultFor(second, 'mine') });
  });

  test('can complete until it is taken over', async () => {
    const request = attempts();
    const first = await claimedBy(store, request());
    nowMs += 2 * LEASE_MS;
    expect(await store.complete(first, resultFor(first))).toEqual({ stored: true });
    expect(await store.claim(request())).toEqual({ replay: resultFor(first) });
  });

  test('is taken over by one of many, and can be taken over again', async () => {
    const request = attempts();
    await store.claim(request());
    for (let time = 0; time < 3; time++) {
      nowMs += LEASE_MS;
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => store.claim(request())));
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toHaveLength(9);
      for (const error of refused) expect(error).toMatchObject(inProgress);
    }
  });

  test.each<[string, (claim: Claim) => Promise<unknown>]>([
    ['completes', (claim) => store.complete(claim, resultFor(claim))],
    ['frees its key', (claim) => store.abandon(claim)],
  ])('is not taken over if it %s just before', async (_, work) => {
    const request = attempts();
    const first = await claimedBy(store, request());
    nowMs += LEASE_MS;
    const late = storeOver(interrupted(database.database, () => work(first)));
    await expect(late.claim(request())).rejects.toMatchObject({ ...inProgress, headers: { 'retry-after': '1' } });
    const next = request();
    expect([{ replay: resultFor(first) }, { claimed: { ...first, holder: next.requestId, requestId: next.requestId } }]).toContainEqual(
      await store.claim(next),
    );
  });

  test('is billed under a new id once it is restarted', async () => {
    const request = attempts();
    await store.claim(request());
    nowMs += LEASE_MS;
    const next = request();
    const taken = await claimedBy(store, next);
    const restarted = await store.restart(taken, next.requestId);
    expect(restarted).toEqual({ ...taken, requestId: next.requestId, takenOver: false });
    nowMs += LEASE_MS;
    expect(await claimedBy(store, request())).toMatchObject({ requestId: next.requestId, takenOver: true });
  });
});

describe('an attempt that was rejected or failed', () => {
  test('frees its key for any request', async () => {
    const request = attempts();
    await store.abandon(await claimedBy(store, request()));
    const other = request({ fingerprint: 'other' });
    expect(await claimedBy(store, other)).toMatchObject({ holder: other.requestId, takenOver: false });
  });

  test('can’t free a key that it has completed', async () => {
    const request = attempts();
    const claim = await claimedBy(store, request());
    await store.complete(claim, resultFor(claim));
    await store.abandon(claim);
    expect(await store.claim(request())).toEqual({ replay: resultFor(claim) });
  });

  test('can’t complete without its record', async () => {
    const claim = await claimedBy(store, attempts()());
    await store.abandon(claim);
    expect(await store.complete(claim, resultFor(claim))).toBe(false);
    await expect(store.restart(claim, 'req_new')).rejects.toMatchObject(inProgress);
  });
});

describe('a write that is sent again after its reply was lost', () => {
  test('is recognized as our own', async () => {
    const bad = storeOver(sendingTwice(database.database));
    const request = attempts();
    const first = request();
    expect(await claimedBy(bad, first)).toMatchObject({ holder: first.requestId, takenOver: false });
    nowMs += LEASE_MS;
    const second = request();
    const taken = await claimedBy(bad, second);
    expect(taken).toMatchObject({ holder: second.requestId, requestId: first.requestId, takenOver: true });
    const restarted = await bad.restart(taken, second.requestId);
    expect(await bad.complete(restarted, resultFor(restarted))).toEqual({ stored: true });
    expect(await bad.claim(request())).toEqual({ replay: resultFor(restarted) });
    const other = attempts()();
    await bad.abandon(await claimedBy(bad, other));
    expect(await claimedBy(bad, other)).toMatchObject({ takenOver: false });
  });
});

describe('a database outage', () => {
  test('is thrown as an outage', async () => {
    const away = storeOver(failing(new Error('away')));
    const claim = { id: 'i', holder: 'h', requestId: 'r', takenOver: false };
    for (const work of [away.claim(attempts()()), away.complete(claim, undefined), away.abandon(claim), away.restart(claim, 'n')])
      await expect(work).rejects.toThrow('away');
  });
});
