const WRITES = /\.(?:PutItem|UpdateItem|DeleteItem|BatchWriteItem|TransactWriteItems)$/;

/** Waits for writes to one table. */
export interface WatchedTable {
  /**
   * Resolves when a call has written to the table since the last wait ended, or after a time.
   * @returns false if the time has passed
   */
  written(limitMs: number): Promise<boolean>;
}

/** The writes to the tables of a local run. */
export interface TableWrites {
  /** Must be called after each call of DynamoDB. @param target the header `x-amz-target` */
  note(target: string, body: Buffer): void;
  watch(tableName: string): WatchedTable;
}

/** Tells those who watch a table that it was written to. A call that only names the table in a value counts too. */
export const createTableWrites = (): TableWrites => {
  const watchers: { quotedName: string; tell: () => void }[] = [];
  return {
    note(target, body) {
      if (!WRITES.test(target)) return;
      for (const { quotedName, tell } of watchers) if (body.includes(quotedName)) tell();
    },
    watch(tableName) {
      let isWritten = false;
      let wake = (): void => undefined;
      const tell = (): void => {
        isWritten = true;
        wake();
      };
      watchers.push({ quotedName: JSON.stringify(tableName), tell });
      return {
        async written(limitMs) {
          if (!isWritten)
            await new Promise<void>((resolve) => {
              const tooLate = setTimeout(resolve, limitMs).unref();
              wake = () => {
                clearTimeout(tooLate);
                resolve();
              };
            });
          const result = isWritten;
          isWritten = false;
          return result;
        },
      };
    },
  };
};
