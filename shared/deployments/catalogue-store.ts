import type * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { Versioned } from '../http/precondition.ts';
import type { InstancePrice } from '../prices/instance-price.ts';
import { AdapterPrices, InstanceType, Runtime } from './catalogue.ts';

const CATALOGUE = 'catalogue';

// Entries of the release have rows only once they are changed.
interface BuiltIn {
  runtimes: readonly Runtime[];
  instanceTypes: readonly InstanceType[];
}

const NO_ADAPTER_PRICES: AdapterPrices = { id: 'adapters', prices: [], version: 0 };

const createEntries = <Entry extends Versioned & { id: string }>(
  table: RecordTable,
  prefix: string,
  schema: z.ZodType<Entry>,
  builtIn: readonly Entry[],
) => {
  const stored = ignoringUnknown(schema);
  const recordKeyOf = (id: string): RecordKey => ({ account: CATALOGUE, record: prefix + id });
  return {
    get: async (id: string): Promise<Entry | undefined> => {
      const row = await table.get(recordKeyOf(id));
      return row ? stored.parse(row) : builtIn.find((entry) => entry.id === id);
    },

    /** All entries, by id. */
    list: async (): Promise<Entry[]> => {
      const entries = new Map(builtIn.map((entry) => [entry.id, entry]));
      for await (const row of table.all({ account: CATALOGUE, prefix })) {
        const entry = stored.parse(row);
        entries.set(entry.id, entry);
      }
      return [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    },

    /** Creates an entry that the release does not have either. */
    toCreate: (entry: Entry, refused: () => Error): Write => table.toCreate(recordKeyOf(entry.id), entry, refused),

    /** Replaces the entry that was read: 412 if another change came first. */
    toReplace: (entry: Entry): Write => table.toSave(recordKeyOf(entry.id), entry),
  };
};

/**
 * The catalogue of runtimes and instance types, and the surcharges on adapters, in the table `deployments`. The only
 * code that knows their keys.
 * @param builtIn default: only what is stored, which includes all prices
 */
export const createCatalogueStore = (table: RecordTable, builtIn: BuiltIn = { runtimes: [], instanceTypes: [] }) => {
  const instanceTypes = createEntries(table, 'instance#', InstanceType, builtIn.instanceTypes);
  const surcharges = createEntries(table, 'surcharge#', AdapterPrices, []);
  return {
    /** The surcharges on tokens of adapters; none until an admin states one. */
    adapterPrices: async (): Promise<AdapterPrices> => (await surcharges.get(NO_ADAPTER_PRICES.id)) ?? NO_ADAPTER_PRICES,

    /** Replaces the surcharges that were read: 412 if another change came first. */
    toReplaceAdapterPrices: surcharges.toReplace,

    runtimes: createEntries(table, 'runtime#', Runtime, builtIn.runtimes),
    instanceTypes,

    /** The cost versions of all instance types that have any, by id. */
    costs: async (): Promise<ReadonlyMap<string, readonly InstancePrice[]>> =>
      new Map((await instanceTypes.list()).flatMap(({ id, costs = [] }) => (costs.length > 0 ? [[id, costs] as const] : []))),

    /** The price versions of an instance type; none if it is unknown or was never priced. */
    prices: async (instanceType: string): Promise<readonly InstancePrice[]> => (await instanceTypes.get(instanceType))?.prices ?? [],
  };
};

export type CatalogueStore = ReturnType<typeof createCatalogueStore>;
