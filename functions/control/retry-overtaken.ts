import { DatabaseUnavailable } from '../../shared/database/outage.ts';

interface Retries {
  /** The resource, for the log, such as `The limiter of org_1`. */
  what: string;
  maxTries: number;
  /** The errors of the change that say that another change came first. */
  by: readonly (abstract new (
    ...facts: never[]
  ) => Error)[];
}

/**
 * Makes a change, and makes it again from what it then reads while other changes come first.
 * @throws 503 if that happens each time; the other errors of the change
 */
export const retryOvertaken = async <Result>(
  { what, maxTries, by }: Retries,
  change: (tries: number) => Promise<Result>,
): Promise<Result> => {
  for (let tries = 1; tries <= maxTries; tries++) {
    try {
      return await change(tries);
    } catch (error) {
      if (!by.some((kind) => error instanceof kind)) throw error;
    }
  }
  throw new DatabaseUnavailable(new Error(`${what} changed during each of ${maxTries} tries.`));
};
