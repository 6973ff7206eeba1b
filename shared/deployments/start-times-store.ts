import * as z from 'zod';
import type { Database } from '../database/database.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import { transact } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';

/** The number of wakes that are stored for an instance type: the newest. */
export const MAX_START_TIMES = 50;
// Other deployments can record a wake at the same moment.
const MAX_RECORD_ATTEMPTS = 5;

const StartTimes = z.object({ version: z.int().min(1), seconds: z.array(z.number().min(0)) });

const recordKeyOf = (instanceType: string): RecordKey => ({ account: 'starts', record: instanceType });

/**
 * How long the last wakes of any deployment took, by instance type, in the table `deployments`: the prediction for
 * deployments that have not yet started. Statistics: a wake that is lost or recorded twice does no harm.
 * @param table the records of that table
 */
export const createStartTimesStore = (database: Database, table: RecordTable) => {
  const read = async (instanceType: string) => {
    const row = await table.get(recordKeyOf(instanceType));
    return row && StartTimes.parse(row);
  };
  return {
    /** Seconds, oldest first; empty if no deployment on this type has woken. */
    secondsOf: async (instanceType: string): Promise<number[]> => (await read(instanceType))?.seconds ?? [],

    /** Adds a wake. @throws PreconditionFailed if others were always faster */
    record: async (instanceType: string, seconds: number): Promise<void> => {
      for (let attempt = 1; ; attempt++) {
        const before = await read(instanceType);
        const times = [...(before?.seconds ?? []), seconds].slice(-MAX_START_TIMES);
        try {
          return await transact(database, [table.toSave(recordKeyOf(instanceType), { version: before?.version ?? 0, seconds: times })]);
        } catch (error) {
          if (!(error instanceof PreconditionFailed) || attempt === MAX_RECORD_ATTEMPTS) throw error;
        }
      }
    },
  };
};

export type StartTimesStore = ReturnType<typeof createStartTimesStore>;
