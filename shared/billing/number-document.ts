import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseUnavailable } from '../database/outage.ts';
import { NumberInUse, type NumberSeries, type NumberStore } from './number-store.ts';

// Enough for hundreds of documents that are numbered at the same time.
const MAX_NUMBERING_ATTEMPTS = 40;
const FIRST_WAIT_MS = 10;
const MAX_WAIT_MS = 800;

/**
 * Gives a document the next number of its series. While other documents take it first, tries again with the one after
 * that.
 * @param write the transaction that takes the number after `last`; throws NumberInUse if it is taken
 * @throws 503 if too many other documents are numbered at the same time; what `write` throws
 */
export const numberDocument = async <Result>(
  { numbers }: { numbers: NumberStore },
  series: NumberSeries,
  write: (last: number) => Promise<Result>,
): Promise<Result> => {
  for (let attempt = 0; attempt < MAX_NUMBERING_ATTEMPTS; attempt++) {
    try {
      return await write(await numbers.last(series));
    } catch (error) {
      if (!(error instanceof NumberInUse)) throw error;
      await delay(Math.random() * Math.min(FIRST_WAIT_MS * 2 ** attempt, MAX_WAIT_MS));
    }
  }
  throw new DatabaseUnavailable(
    new Error(`Could not allocate a number in series ${series}: ${MAX_NUMBERING_ATTEMPTS} attempts lost to concurrent writers.`),
  );
};
