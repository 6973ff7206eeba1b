/** Rounds half away from zero, so that a correction takes back exactly what was charged. */
export const divideRounded = (dividend: bigint, divisor: bigint): bigint =>
  dividend < 0n ? -((-dividend + divisor / 2n) / divisor) : (dividend + divisor / 2n) / divisor;
