/** The smallest of the values that `share` (0 to 1) of them do not exceed; NaN of none. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

/** The middle value, by the same rule; NaN of none. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The total; 0 of none. */
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The values, beginning with another one in each round, so that what comes first is not always the same. */
export const rotated = <Value>(values: readonly Value[], round: number): Value[] => {
  const start = round % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
};
