/**
 * Runs tasks with bounded concurrency. If one fails, no more are started and `abort` is called; the failure is thrown
 * once all that run have ended.
 * @returns the results, in the order of the tasks
 */
export const runAll = async <Result>(
  tasks: readonly (() => Promise<Result>)[],
  concurrency: number,
  abort: () => void,
): Promise<Result[]> => {
  const results: Result[] = [];
  let next = 0;
  let failure: { error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (let task = tasks[next]; task && !failure; task = tasks[next]) {
      const index = next++;
      try {
        results[index] = await task();
      } catch (error) {
        if (failure) return;
        failure = { error };
        abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, work));
  if (failure) throw failure.error;
  return results;
};
