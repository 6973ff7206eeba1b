/**
 * Processes all items, at most `limit` at a time, and continues if some fail.
 * @param hasTime called before each item
 * @returns the errors of failed items; one error stands for all items that there was no time for
 */
export const inParallel = async <Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
  hasTime: () => boolean = () => true,
): Promise<unknown[]> => {
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && hasTime()) await work(items[next++] as Item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (next < items.length) failures.push(new Error(`Ran out of time before ${items.length - next} of ${items.length} items.`));
  return failures;
};

/**
 * @throws AggregateError with the text of the first failure, if there is one: a log line does not show the inner
 * errors
 */
export const throwFailures = (failures: readonly unknown[]): void => {
  if (failures.length === 0) return;
  const [first] = failures;
  const cause = first instanceof Error && first.cause instanceof Error ? first.cause : first;
  throw new AggregateError(failures, `${failures.length} failed, the first with ${String(cause)}`);
};
