import type { QueryInput } from '../../../../shared/database/database.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';

/** Every item of a table, which requests never read. @throws Error if the table has more pages of 1 MB */
export async function* scan(
  database: SdkDatabase,
  input: Omit<QueryInput, 'KeyConditionExpression'>,
  maxPages: number,
): AsyncGenerator<Record<string, unknown>> {
  let start: Record<string, unknown> | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { Items = [], LastEvaluatedKey } = await database.scan({ ...input, ...(start && { ExclusiveStartKey: start }) });
    yield* Items;
    if (!LastEvaluatedKey) return;
    start = LastEvaluatedKey;
  }
  throw new Error(`The table ${input.TableName} has more than ${maxPages} pages.`);
}
