// DynamoDB stores smaller numbers than this as none.
const LEAST = 1e-100;

/** Returns a number of a token as it is stored, which is a text if the database has no such number. */
export const shownNumber = (value: number): number | string => {
  const size = Math.abs(value);
  return size === 0 || (size >= LEAST && size <= Number.MAX_SAFE_INTEGER) ? value : String(value);
};
