import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, release } from '../../../shared/admission/admit.ts';
import { MINUTE_MS } from '../../../shared/admission/sliding-window.ts';
import { attempt, forgetfulCache, isAdmitted, makeCaller, makeKey, usedTokens } from '../../support/callers.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';

const START = 29_000_000 * MINUTE_MS;
const RUNS = 120;
const OPERATIONS = 120;
const LIMITS = { requests: 12, tokens: 400, concurrency: 5 };

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

/** A reference implementation of the rule, with plain counts per minute. */
const createReference = () => {
  const requests = new Map<number, number>();
  const tokens = new Map<number, number>();
  let inFlight = 0;
  const add = (counts: Map<number, number>, minute: number, amount: number): void =>
    void counts.set(minute, (counts.get(minute) ?? 0) + amount);
  const weight = (counts: Map<number, number>, now: number): number => {
    const minute = Math.floor(now / MINUTE_MS);
    const left = (minute + 1) * MINUTE_MS - now;
    return (counts.get(minute) ?? 0) + Math.ceil(((counts.get(minute - 1) ?? 0) * left) / MINUTE_MS);
  };
  return {
    admit: (now: number, amount: number): boolean => {
      const fits =
        weight(requests, now) + 1 <= LIMITS.requests && weight(tokens, now) + amount <= LIMITS.tokens && inFlight + 1 <= LIMITS.concurrency;
      if (!fits) return false;
      const minute = Math.floor(now / MINUTE_MS);
      add(requests, minute, 1);
      add(tokens, minute, amount);
      inFlight++;
      return true;
    },
    release: (admittedAt: number, now: number, reserved: number, used: number): void => {
      const minute = Math.floor(admittedAt / MINUTE_MS);
      inFlight--;
      if (Math.floor(now / MINUTE_MS) - minute <= 1) add(tokens, minute, used - reserved);
    },
  };
};

const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('admit' as const), caller: fc.nat(2), amount: fc.integer({ min: 1, max: 150 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      which: fc.nat(10),
      used: fc.integer({ min: 0, max: 150 }),
      twice: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 70_000 }) }) },
);

test(`${RUNS} × ${OPERATIONS} random operations in three environments have the same results as a reference model`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }), async (operations) => {
      const key = await makeKey(database.limiters, {
        requests_per_minute: LIMITS.requests,
        tokens_per_minute: LIMITS.tokens,
        concurrency: LIMITS.concurrency,
      });
      let now = START;
      const callers = [0, 1, 2].map(() => ({ ...makeCaller(database.limiters, () => now), cache: forgetfulCache() }));
      const reference = createReference();
      const inFlight: Admission[] = [];
      for (const next of operations) {
        if (next.kind === 'wait') now += next.ms;
        else if (next.kind === 'admit') {
          const result = await attempt(callers[next.caller] as (typeof callers)[number], key, next.amount);
          expect(isAdmitted(result)).toBe(reference.admit(now, next.amount));
          if (isAdmitted(result)) inFlight.push(result);
        } else if (inFlight.length > 0) {
          const [admission] = inFlight.splice(next.which % inFlight.length, 1) as [Admission];
          for (let time = 0; time < (next.twice ? 2 : 1); time++)
            await release(callers[0] as (typeof callers)[number], admission, usedTokens(next.used));
          reference.release(admission.admittedAtMs, now, admission.reservations[0]?.entry.tokens ?? 0, next.used);
        }
      }
      expect(Object.keys((await database.limiters.get(key.keyId))?.fl ?? {}).sort()).toEqual(
        inFlight.map(({ requestId }) => requestId).sort(),
      );
    }),
    { numRuns: RUNS },
  );
});
