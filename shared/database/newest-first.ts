import type { Database, Item } from './database.ts';

/** A range of a partition; `to` is exclusive. */
export interface RowRange {
  account: string;
  from: string;
  to: string;
}

/** An item with its place in its partition. */
export interface OrderedItem extends Item {
  account: string;
  record: string;
}

/** The number of items that may still be read. */
export const createReadBudget = (max: number) => {
  let left = max;
  let isExhausted = false;
  return {
    left: (): number => left,
    /** A query costs at least one item, because it costs time, too. */
    spend: (items: number): void => {
      left -= Math.max(1, items);
    },
    exhaust: (): void => {
      isExhausted = true;
    },
    /** Reading stopped although there is more. */
    isExhausted: (): boolean => isExhausted,
  };
};
export type ReadBudget = ReturnType<typeof createReadBudget>;

// Each further query of a partition reads twice as many items as the last one, up to this.
const MAX_AT_ONCE = 1_000;

interface Place {
  database: Database;
  table: string;
}

const createList = ({ database, table }: Place, { account, from, to }: RowRange, firstRead: number) => {
  let items: OrderedItem[] = [];
  // Reading begins after this key: the end of a range is exclusive.
  let start: Item | undefined = { account, record: to };
  let isRead = false;
  let atOnce = firstRead;
  return {
    /** The newest item that was not taken. */
    head: (): OrderedItem | undefined => items[0],
    take: (): void => {
      items.shift();
    },
    /** It must be filled before its head is known. */
    isEmpty: (): boolean => items.length === 0 && !isRead,
    fill: async (budget: ReadBudget, share: number): Promise<void> => {
      const { Items = [], LastEvaluatedKey } = await database.query({
        TableName: table,
        KeyConditionExpression: 'account = :account AND #record BETWEEN :from AND :to',
        ExpressionAttributeNames: { '#record': 'record' },
        ExpressionAttributeValues: { ':account': account, ':from': from, ':to': to },
        ScanIndexForward: false,
        Limit: Math.max(1, Math.min(atOnce, share)),
        ...(start && { ExclusiveStartKey: start }),
      });
      budget.spend(Items.length);
      items = Items as OrderedItem[];
      start = LastEvaluatedKey;
      isRead = LastEvaluatedKey === undefined;
      atOnce = Math.min(2 * atOnce, MAX_AT_ONCE);
    },
  };
};
type List = ReturnType<typeof createList>;

// Returns false if the budget does not allow it.
const fillAll = async (lists: readonly List[], budget: ReadBudget): Promise<boolean> => {
  for (let empty = lists; ; ) {
    empty = empty.filter((list) => list.isEmpty());
    if (empty.length === 0) return true;
    if (budget.left() <= 0) {
      budget.exhaust();
      return false;
    }
    const share = Math.floor(budget.left() / empty.length);
    await Promise.all(empty.map((list) => list.fill(budget, share)));
  }
};

/**
 * Merges ranges of partitions, newest item first, until the budget is exhausted: then all newer items were returned.
 * @param firstRead how many items the first query of each partition reads
 */
export async function* newestFirst(
  place: Place,
  ranges: readonly RowRange[],
  budget: ReadBudget,
  firstRead: number,
): AsyncGenerator<OrderedItem> {
  // DynamoDB rejects a range that ends before its start.
  const lists = ranges.filter(({ from, to }) => from < to).map((range) => createList(place, range, firstRead));
  while (await fillAll(lists, budget)) {
    let newest: List | undefined;
    for (const list of lists) {
      const [record, best] = [list.head()?.record, newest?.head()?.record];
      if (record !== undefined && (best === undefined || record > best)) newest = list;
    }
    if (!newest) return;
    yield newest.head() as OrderedItem;
    newest.take();
  }
}
