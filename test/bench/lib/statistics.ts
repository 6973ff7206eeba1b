/** The smallest value that at least `share` (0 to 1) of the values do not exceed; NaN without values. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

/** The median by the same rule; NaN without values. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The sum; 0 without values. */
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The values, rotated by the round, so that the first one differs from round to round. */
export const rotated = <Value>(values: readonly Value[], round: number): Value[] => {
  const start = round % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
};
