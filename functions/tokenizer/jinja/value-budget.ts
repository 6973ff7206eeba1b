import { spend, spendOnNumber, spendOnText } from './budget.ts';
import { itemsOf, LazyItems, SafeText, type Value } from './values.ts';

// Items that are copied, not visited.
const ITEMS_A_STEP = 1_024;

const stepsOf = (value: Value): number => {
  if (value instanceof Map) return value.size / ITEMS_A_STEP;
  const items = value instanceof LazyItems ? value : itemsOf(value);
  return (items?.length ?? 0) / ITEMS_A_STEP;
};

/**
 * Counts a value that an expression has: one step, and more for what is large. @throws TooManySteps, or Error if it
 * is too large
 */
export const spendOnValue = (value: Value): void => {
  spend(1);
  if (typeof value === 'bigint') spendOnNumber(value);
  else if (typeof value === 'string') spendOnText(value.length);
  else if (value instanceof SafeText) spendOnText(value.text.length);
  else if (typeof value === 'object') spend(stepsOf(value));
};

/** Counts the items of a value that are visited one by one. @throws TooManySteps */
export const spendOnItems = (value: Value): void => spend(1 + (value instanceof Map ? value.size : (itemsOf(value)?.length ?? 0)));
