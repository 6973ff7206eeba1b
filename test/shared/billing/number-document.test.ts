import { expect, test } from '@jest/globals';
import { numberDocument } from '../../../shared/billing/number-document.ts';
import { NumberInUse } from '../../../shared/billing/number-store.ts';
import { createSimulatedClock } from '../../support/simulation/clock.ts';

const DOCUMENTS = 200;
const CALL_MS = 1;

test(`gives ${DOCUMENTS} documents at the same time a number each, without a gap`, async () => {
  const clock = createSimulatedClock(0);
  // Answers one call after the other.
  let freeAtMs = 0;
  const answer = (): Promise<void> => {
    freeAtMs = Math.max(freeAtMs, clock.now()) + CALL_MS;
    return clock.wait(freeAtMs - clock.now());
  };
  let taken = 0;
  const numbers = {
    last: async (): Promise<number> => {
      await answer();
      return taken;
    },
    toTake: (): never => {
      throw new Error('Only the write knows what it takes.');
    },
  };
  const take = async (last: number): Promise<number> => {
    await answer();
    if (last !== taken) throw new NumberInUse();
    taken = last + 1;
    return taken;
  };
  const numbered = Promise.all(Array.from({ length: DOCUMENTS }, () => numberDocument({ numbers }, 'invoice', take)));
  await clock.run();
  expect((await numbered).sort((one, other) => one - other)).toEqual(Array.from({ length: DOCUMENTS }, (_, i) => i + 1));
});
