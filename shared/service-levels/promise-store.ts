import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { ModelPromises } from './promise.ts';

const StoredPromises = ignoringUnknown(ModelPromises);

const ACCOUNT = 'service-promises';
const recordKeyOf = (model: string): RecordKey => ({ account: ACCOUNT, record: model });

/** The promises of the shared models, in the table `billing`. The only code that knows their keys. */
export const createPromiseStore = (table: RecordTable) => ({
  /** The promises of a model; none, with version 0, until one is stated. */
  get: async (model: string): Promise<ModelPromises> => {
    const row = await table.get(recordKeyOf(model));
    return row ? StoredPromises.parse(row) : { model, promises: [], version: 0 };
  },

  /** The promises of all models, in the order of the models' names. */
  list: (): Promise<ModelPromises[]> => Array.fromAsync(table.allOf(ACCOUNT), (row) => StoredPromises.parse(row)),

  /** Replaces the promises that were read: 412 if another change came first. */
  toReplace: (promises: ModelPromises): Write => table.toSave(recordKeyOf(promises.model), promises),
});

export type PromiseStore = ReturnType<typeof createPromiseStore>;
