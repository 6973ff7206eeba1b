import { EMBEDDING_MODEL, RERANK_MODEL } from '../../../../infra/local/container.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { database, isOf } from './database-faults.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

/** The functions that cache the inventory. */
export const READERS = ['inference', 'ondemand-inference', 'catalog'] as const;
const POOLS = [SERVERLESS_POOL, 'org_test'] as const;
/** Every chat might exceed such a window by the bytes of its prompt, so the tokenizer counts it. */
export const SMALL_WINDOW_TOKENS = 1_030;

type Row = Record<string, unknown>;

/** A fault of the rows of the table's models, but of the fallback. @param change returns undefined to delete a row */
export const inventory = (
  name: string,
  change: (model: Model) => Row | undefined,
  fault: Pick<TableFault, 'metered' | 'isModelAbsent' | 'spares'>,
): TableFault => {
  const stored: [pool: string, model: Model][] = [];
  return {
    name,
    ...fault,
    coldFunctions: READERS,
    staleFunctions: READERS,
    begin: async ({ run }) => {
      stored.length = 0;
      for (const pool of POOLS)
        for (const name of [run.model, EMBEDDING_MODEL, RERANK_MODEL]) {
          const model = await run.models.get(pool, name);
          if (!model) throw new Error(`The pool ${pool} has no model ${name}.`);
          stored.push([pool, model]);
          await putRow(run, pool, name, change(model));
        }
    },
    end: async ({ run }) => {
      for (const [pool, model] of stored) await run.models.put(pool, model);
    },
  };
};

const putRow = async ({ database: tables, tables: { Models } }: FaultyRun['run'], pool: string, name: string, row?: Row): Promise<void> => {
  const TableName = Models as string;
  if (row) await tables.put({ TableName, Item: { pool, ...row } });
  else await tables.delete({ TableName, Key: { pool, name } });
};

/** Faults of the models' rows and of what they refer to, as new environments meet them. */
export const INVENTORY_FAULTS: readonly TableFault[] = [
  inventory('Inventory: the model is missing', () => undefined, { metered: 'fails', isModelAbsent: true }),
  inventory("Inventory: the model's row is unreadable", (model) => ({ ...model, targets: 'none' }), {
    metered: 'fails',
    isModelAbsent: true,
  }),
  inventory(
    'Inventory: the model has no price yet',
    (model) => ({ ...model, prices: model.prices.map((price) => ({ ...price, effective_at: Date.now() + DAY_MS })) }),
    { metered: 'fails', spares: ['fallback'] },
  ),
  inventory(
    "Inventory: the tokenizer's files are missing",
    (model) => ({ ...model, context_length: SMALL_WINDOW_TOKENS, tokenizer: { tokenizer: 'missing/tokenizer.json' } }),
    { metered: 'either' },
  ),
  {
    ...database(
      'fails for the table `models`, and nothing is cached',
      { failed: 1 },
      ({ Models }) =>
        (_, body) =>
          isOf(Models, body),
      'fails',
    ),
    coldFunctions: READERS,
  },
];
