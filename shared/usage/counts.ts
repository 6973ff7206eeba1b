/** The number of occurrences of each value; absent: none. */
export type Counts<Value> = Map<Value, number>;

/** Counts a value, in place. */
export const count = <Value>(counts: Counts<Value>, value: Value, times = 1): void => {
  counts.set(value, (counts.get(value) ?? 0) + times);
};

export const mergeCounts = <Value>(a: Counts<Value>, b: Counts<Value>): Counts<Value> => {
  const merged = new Map(a);
  for (const [value, times] of b) count(merged, value, times);
  return merged;
};

export const sumOfCounts = (counts: Counts<unknown>): number => {
  let sum = 0;
  for (const times of counts.values()) sum += times;
  return sum;
};
