/** The most steps of a rendering: a chat of a thousand messages needs some ten thousand. */
export const MAX_STEPS = 1_000_000;
/** No prompt has larger texts: they are attempts to use up memory. */
export const MAX_CHARACTERS = 16_000_000;
const MAX_BITS = 4_096;

const CHARACTERS_A_STEP = 256;
const COMPARISONS_A_STEP = 1_024;
const BITS_A_STEP = 64;
const BITS_A_DIGIT = 4;

/** A rendering needs more steps than it may. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';

  constructor() {
    super(`it takes more than ${MAX_STEPS.toLocaleString('en-US')} steps to render.`);
  }
}

let left = Number.POSITIVE_INFINITY;

/** Counts steps of the current rendering. @throws TooManySteps */
export const spend = (steps: number): void => {
  left -= steps;
  if (left < 0) throw new TooManySteps();
};

/** Renders with a budget of its own. */
export const withBudget = <Result>(render: () => Result): Result => {
  const before = left;
  left = MAX_STEPS;
  try {
    return render();
  } finally {
    left = before;
  }
};

/** Counts the reading or the writing of a text. @throws TooManySteps, or Error if it is too long */
export const spendOnText = (characters: number): void => {
  if (characters > MAX_CHARACTERS) throw new Error(`A text can have at most ${MAX_CHARACTERS} characters.`);
  spend(characters / CHARACTERS_A_STEP);
};

/**
 * Counts a search for a text in another one, which can compare each character of the one with each of the other.
 * @throws TooManySteps
 */
export const spendOnSearch = (text: string, wanted: string): void => spend((text.length * wanted.length) / COMPARISONS_A_STEP);

// 0 for numbers of at most 64 bits.
const bitsOf = (value: bigint): number => (BigInt.asIntN(BITS_A_STEP, value) === value ? 0 : value.toString(16).length * BITS_A_DIGIT);

/** Counts the bits of a number. @throws TooManySteps, or Error if it is too large */
export const spendOnNumber = (value: bigint): void => spendOnBits(bitsOf(value));

const spendOnBits = (bits: number): void => {
  if (bits > MAX_BITS) throw new Error(`A number can have at most ${MAX_BITS} bits.`);
  spend(bits / BITS_A_STEP);
};

/** Counts a power before it is computed. @throws TooManySteps, or Error if it is too large */
export const spendOnPower = (base: bigint, exponent: bigint): void => spendOnBits((base.toString(2).length - 1) * Number(exponent));
