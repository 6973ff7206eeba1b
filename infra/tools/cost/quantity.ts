/** An exact number of units: `amount` divided by `scale`. */
export interface Quantity {
  amount: bigint;
  scale: bigint;
}

export const quantity = (amount: bigint | number, scale: bigint | number = 1): Quantity => ({
  amount: BigInt(amount),
  scale: BigInt(scale),
});

/** Subtracts quantities; never returns less than zero. */
export const minus = (from: Quantity, taken: Quantity): Quantity => {
  const left = from.amount * taken.scale - taken.amount * from.scale;
  return { amount: left > 0n ? left : 0n, scale: from.scale * taken.scale };
};

const BYTES_PER_GB = 2n ** 30n;
const MB_PER_GB = 1_024n;
const MS_PER_SECOND = 1_000n;

/** GB, as AWS bills them: 2³⁰ bytes. */
export const gigabytes = (bytes: bigint): Quantity => ({ amount: bytes, scale: BYTES_PER_GB });

/** GB-months of so many bytes that are stored for so many days. A month has 730 hours. */
export const gigabyteMonths = (bytes: bigint, days: number): Quantity => ({
  amount: bytes * BigInt(days) * 24n,
  scale: BYTES_PER_GB * 730n,
});

/** GB-seconds of functions with so much memory that run for so long. */
export const gigabyteSeconds = (memoryMb: number, ms: bigint): Quantity => ({
  amount: BigInt(memoryMb) * ms,
  scale: MB_PER_GB * MS_PER_SECOND,
});
