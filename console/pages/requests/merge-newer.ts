interface Dated {
  id: string;
  created_at: number;
}

/**
 * The rows of two reads of a search, newest first, each request once and as it was last read.
 * @param max how many are kept
 */
export const mergeNewer = <Row extends Dated>(shown: readonly Row[], newer: readonly Row[], max: number): Row[] => {
  const rows = new Map([...shown, ...newer].map((row) => [row.id, row]));
  return [...rows.values()].sort((one, other) => other.created_at - one.created_at || (one.id < other.id ? 1 : -1)).slice(0, max);
};
