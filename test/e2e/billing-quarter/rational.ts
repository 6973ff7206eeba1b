/** An exact fraction. The reference computes with these, and rounds only where the rules say so. */
export interface Rational {
  readonly numerator: bigint;
  /** Positive. */
  readonly denominator: bigint;
}

const divisorOf = (a: bigint, b: bigint): bigint => (b === 0n ? (a < 0n ? -a : a) : divisorOf(b, a % b));

export const fraction = (numerator: bigint, denominator = 1n): Rational => {
  const common = divisorOf(numerator, denominator) || 1n;
  return { numerator: numerator / common, denominator: denominator / common };
};

const plus = (a: Rational, b: Rational): Rational =>
  fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);

export const times = (a: Rational, b: Rational): Rational => fraction(a.numerator * b.numerator, a.denominator * b.denominator);

export const sumOf = (fractions: readonly Rational[]): Rational => fractions.reduce(plus, fraction(0n));

/** The nearest integer; of two, the one that is further from zero. */
export const nearest = ({ numerator, denominator }: Rational): bigint => {
  const isNegative = numerator < 0n;
  const size = isNegative ? -numerator : numerator;
  const whole = size / denominator;
  const rest = size - whole * denominator;
  const rounded = rest + rest >= denominator ? whole + 1n : whole;
  return isNegative ? -rounded : rounded;
};
