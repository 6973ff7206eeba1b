import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Database } from './client.ts';

/**
 * All items of a query, read page by page as they are consumed.
 * @throws Error if there are more pages (of 1 MB) than `maxPages`: a partition that large is our bug
 */
export async function* queryItems(database: Database, input: QueryCommandInput, maxPages: number): AsyncGenerator<Record<string, unknown>> {
  let start: Record<string, unknown> | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { Items = [], LastEvaluatedKey } = await database.send(
      new QueryCommand({ ...input, ...(start && { ExclusiveStartKey: start }) }),
    );
    yield* Items;
    if (!LastEvaluatedKey) return;
    start = LastEvaluatedKey;
  }
  throw new Error(`A query of ${input.TableName} has more than ${maxPages} pages.`);
}
