// The API allows an organization ten requests a minute that wait for AWS. The rest is for the creation, and for others.
const MAX_CALLS = 6;
const IN_MS = 60_000;
const GAP_MS = 1_000;

/**
 * How long the next call must wait: at least a second after the last one, and at most six in a minute.
 * @param calls the times of earlier calls in ms, oldest first
 */
export const waitBefore = (calls: readonly number[], nowMs: number): number => {
  const last = calls.at(-1) ?? Number.NEGATIVE_INFINITY;
  const sixth = calls.at(-MAX_CALLS) ?? Number.NEGATIVE_INFINITY;
  return Math.max(0, last + GAP_MS - nowMs, sixth + IN_MS - nowMs);
};
