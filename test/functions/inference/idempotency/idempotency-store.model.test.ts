import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Claim } from '../../../../functions/inference/idempotency/key-record.ts';
import type { StoredResult } from '../../../../functions/inference/idempotency/stored-result.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempts, LEASE_MS, resultFor, sendingTwice } from './requests.ts';

const START = 1_700_000_000_000;
const RUNS = 40;
const OPERATIONS = 50;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

// The 24 hours are counted in whole seconds.
const toSeconds = (ms: number): number => ms - (ms % 1_000);

// The rules in their simplest form: one record, changed sequentially.
const createReference = () => {
  type Known = { expiresAt: number; print: string; holder: string; billed: string; leaseUntil: number; end?: { result?: StoredResult } };
  let record: Known | undefined;
  const isHeld = ({ holder }: Claim): boolean => record?.holder === holder;
  return {
    claim: (now: number, print: string, holder: string): string => {
      if (!record || record.expiresAt <= toSeconds(now)) {
        record = { expiresAt: toSeconds(now) + DAY_MS, print, holder, billed: holder, leaseUntil: now + LEASE_MS };
        return `claimed for ${holder}`;
      }
      if (record.print !== print) return 'idempotency_key_reused';
      if (record.end) return record.end.result ? `replay ${record.end.result.body}` : 'idempotent_result_not_stored';
      if (record.leaseUntil > now) return 'idempotency_in_progress';
      record = { ...record, holder, leaseUntil: now + LEASE_MS };
      return `claimed for ${record.billed}`;
    },
    find: (now: number, print: string): string | undefined =>
      record && record.expiresAt > toSeconds(now) && record.print === print ? record.end?.result?.body : undefined,
    restart: (claim: Claim, billed: string): string => {
      if (!record || !isHeld(claim) || record.end) return 'idempotency_in_progress';
      record.billed = billed;
      return `billed as ${billed}`;
    },
    complete: (claim: Claim, result: StoredResult | undefined): object | false => {
      if (!record || !isHeld(claim) || record.end) return false;
      record.end = result ? { result } : {};
      return { stored: result !== undefined };
    },
    abandon: (claim: Claim): void => {
      if (!record || !isHeld(claim) || record.end) return;
      record = record.billed === claim.holder ? undefined : { ...record, leaseUntil: 0 };
    },
  };
};

const which = fc.nat(5);
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('claim' as const), print: fc.constantFrom('one', 'one', 'one', 'two') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('find' as const), print: fc.constantFrom('one', 'two') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('complete' as const), which, isKept: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abandon' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1_000, LEASE_MS - 1_000, LEASE_MS, DAY_MS / 2) }),
  },
);

const codeOf = (error: unknown): string => {
  if (error instanceof ApiError) return error.code ?? '';
  throw error;
};

describe('createIdempotencyStore', () => {
  test(`ends like a plain model after ${RUNS} × ${OPERATIONS} operations on a key, all writes sent twice`, async () => {
    let now = START;
    const store = createIdempotencyStore(sendingTwice(database.database), database.tables.Responses as string, () => now);
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }), async (operations) => {
        now = START;
        const request = attempts();
        const reference = createReference();
        const claims: Claim[] = [];
        for (const next of operations) {
          now += 1;
          const claim = 'which' in next ? claims.at(-1 - next.which) : undefined;
          if (next.kind === 'wait') now += next.ms;
          else if (next.kind === 'claim') {
            const attempt = request({ fingerprint: next.print });
            const expected = reference.claim(now, next.print, attempt.requestId);
            const outcome = await store.claim(attempt).catch(codeOf);
            if (typeof outcome === 'string') expect(outcome).toBe(expected);
            else if ('replay' in outcome) expect(`replay ${outcome.replay.body}`).toBe(expected);
            else {
              expect(`claimed for ${outcome.claimed.requestId}`).toBe(expected);
              expect(outcome.claimed.takenOver).toBe(outcome.claimed.requestId !== attempt.requestId);
              claims.push(outcome.claimed);
            }
          } else if (next.kind === 'find')
            expect((await store.find(request({ fingerprint: next.print })))?.body).toBe(reference.find(now, next.print));
          else if (!claim) continue;
          else if (next.kind === 'restart') {
            const expected = reference.restart(claim, claim.holder);
            const outcome = await store.restart(claim, claim.holder).catch(codeOf);
            expect(typeof outcome === 'string' ? outcome : `billed as ${outcome.requestId}`).toBe(expected);
          } else if (next.kind === 'complete') {
            const result = next.isKept ? resultFor(claim, `by ${claim.holder}`) : undefined;
            expect(await store.complete(claim, result)).toEqual(reference.complete(claim, result));
          } else {
            reference.abandon(claim);
            await store.abandon(claim);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});
