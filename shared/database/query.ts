import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Database } from './client.ts';

/**
 * Every item of a query, page by page as they are asked for.
 * @throws Error when there are more pages (of 1 MB) than `maxPages`: a partition that large is a mistake of ours
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
