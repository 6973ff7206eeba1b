import type { Database, Item, QueryInput } from './database.ts';

/**
 * All items of a query, read page by page as they are consumed.
 * @throws Error if there are more pages (of 1 MB) than `maxPages`: a partition that large is our bug
 */
export async function* queryItems(database: Database, input: QueryInput, maxPages: number): AsyncGenerator<Item> {
  let start: Item | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { Items = [], LastEvaluatedKey } = await database.query({ ...input, ...(start && { ExclusiveStartKey: start }) });
    yield* Items;
    if (!LastEvaluatedKey) return;
    start = LastEvaluatedKey;
  }
  throw new Error(`A query of ${input.TableName} has more than ${maxPages} pages.`);
}
