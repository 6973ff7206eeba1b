/** The most rows that a section reads of a list. */
export const MAX_ROWS = 5_000;

/** A section would read more rows than a summary may. */
export class TooManyRows extends Error {
  constructor() {
    super(`A section of a summary would read more than ${MAX_ROWS} rows.`);
    this.name = 'TooManyRows';
  }
}

/** The rows of a list, read as they are consumed. @throws TooManyRows */
export async function* boundedRows<Row>(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  let read = 0;
  for await (const row of rows) {
    if (++read > MAX_ROWS) throw new TooManyRows();
    yield row;
  }
}
