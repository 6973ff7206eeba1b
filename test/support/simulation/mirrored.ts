import { ConditionFailed, type Database, type Item, TransactionCanceled } from '../../../shared/database/database.ts';

const outcomeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    const { Item, Attributes } = ((await call) ?? {}) as { Item?: Item; Attributes?: Item };
    return { item: Item ?? Attributes };
  } catch (error) {
    if (error instanceof ConditionFailed) return { refused: error.item };
    if (error instanceof TransactionCanceled) return { cancelled: error.reasons };
    throw error;
  }
};

/**
 * A database whose calls are made on another one, too. Calls wait for each other, so that both have them in one order.
 * @param compare called with the results of both, or their failed conditions
 */
export const mirrored = (database: Database, other: Database, compare: (one: unknown, other: unknown) => void): Database => {
  let before: Promise<unknown> = Promise.resolve();
  const both =
    <Input, Result>(name: string, one: (input: Input) => Promise<Result>, two: (input: Input) => Promise<unknown>) =>
    (input: Input): Promise<Result> => {
      const turn = before.then(async () => {
        const call = one(input);
        compare({ name, ...((await outcomeOf(call)) as object) }, { name, ...((await outcomeOf(two(input))) as object) });
        return call;
      });
      before = turn.catch(() => undefined);
      return turn;
    };
  return {
    get: both('get', database.get, other.get),
    put: both('put', database.put, other.put),
    update: both('update', database.update, other.update),
    delete: both('delete', database.delete, other.delete),
    transactWrite: both('transactWrite', database.transactWrite, other.transactWrite),
    // Their results have no order.
    batchGet: database.batchGet,
    query: database.query,
  };
};
