import { ConditionFailed } from './database.ts';

/** Awaits a write. @returns false if its condition did not hold, so that nothing was written */
export const isWritten = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write;
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return false;
  }
};
