/** Returns the token with the largest logit, the lowest id of equals; 0 if all logits are -Infinity. */
export const likeliestToken = (logits: Float32Array): number => {
  let best = 0;
  let top = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] ?? 0;
    if (logit > top) {
      top = logit;
      best = id;
    }
  }
  return best;
};

/** Returns the softmax of the logits. At least one must be finite. */
export const toProbabilities = (logits: Float32Array): Float64Array => {
  const top = logits[likeliestToken(logits)] ?? 0;
  const weights = Float64Array.from(logits, (logit) => (logit === -Infinity ? 0 : Math.exp(logit - top)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
};

/** Returns the natural logarithm of the sum of the exponentials of the logits. */
export const logSumExp = (logits: Float32Array): number => {
  const top = logits[likeliestToken(logits)] ?? 0;
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - top);
  return top + Math.log(total);
};

/**
 * Keeps the `count` largest logits, at least one, and sets the others to -Infinity. Of equal logits, it keeps the
 * lower ids.
 */
export const keepLargest = (logits: Float32Array, count: number): void => {
  if (count >= logits.length) return;
  const threshold = Float32Array.from(logits).sort()[logits.length - Math.max(count, 1)] ?? 0;
  let equals = Math.max(count, 1);
  for (const logit of logits) if (logit > threshold) equals -= 1;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] ?? 0;
    if (logit < threshold || (logit === threshold && equals-- <= 0)) logits[id] = -Infinity;
  }
};

/** Returns how many numbers, added in order, are needed to reach `sum`; at least one. */
export const countUntil = (sum: number, numbers: Iterable<number>): number => {
  let total = 0;
  let count = 0;
  for (const number of numbers) {
    count += 1;
    total += number;
    if (total >= sum) break;
  }
  return count;
};
