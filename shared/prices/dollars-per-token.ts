/** A nano-dollar per million tokens is 10⁻¹⁵ dollars a token. */
const DECIMALS = 15;

/** A price in nano-dollars per million tokens as dollars a token: the exact decimal number, without exponent or zeros at its end. */
export const dollarsPerToken = (nanosPerMillion: number): string => {
  const digits = String(BigInt(nanosPerMillion)).padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  const whole = digits.slice(0, -DECIMALS);
  return fraction ? `${whole}.${fraction}` : whole;
};
