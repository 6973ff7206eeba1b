import type { RedactionRules } from '../settings.ts';
import { type RedactionBudget, VALUE_STEPS } from './budget.ts';
import { CUT, cutText } from './cut-text.ts';
import { jsonBytesOf } from './json-bytes.ts';
import { markerOf, redactText } from './redact-text.ts';

// A value takes this in addition to its own text.
const VALUE_BYTES = 8;
// A text that is too long is cut to this part of the room, because its characters can differ in size.
const FILL = 0.9;
// With less room, the rest of an array or an object is left out.
const LEAST_BYTES = 16;

// From this number on, a number can be that of a card.
const MIN_CARD_NUMBER = 1e12;
// The marker's name for content that was not searched, because the budget was used up.
const BUDGET = 'budget';

const bytesOf = (value: unknown): number => (typeof value === 'string' ? jsonBytesOf(value) : String(value).length) + VALUE_BYTES;

/** The bytes and steps that are left for redacted content. Whatever is put into it takes some of them. */
export const createRoom = ({ patterns }: Pick<RedactionRules, 'patterns'>, maxBytes: number, maxSteps: number) => {
  const counts: Record<string, number> = {};
  const names = new Set(patterns);
  const budget: RedactionBudget = { left: maxSteps };
  let leftBytes = maxBytes;
  let isTruncated = false;
  // Stands for everything that is left out, once something is.
  let rest = CUT;

  const count = (name: string, times: number): void => {
    counts[name] = (counts[name] ?? 0) + times;
  };
  const cut = (): string => {
    isTruncated = true;
    leftBytes = 0;
    return rest;
  };
  const exhaust = (): string => {
    if (leftBytes > 0) {
      rest = markerOf(BUDGET);
      count(BUDGET, 1);
    }
    return cut();
  };
  const put = (value: unknown, bytes = bytesOf(value)): unknown => {
    if (bytes > leftBytes) return cut();
    leftBytes -= bytes;
    return value;
  };

  return {
    /** The value, if there is room for it. Otherwise it, and everything after it, is left out. */
    put,
    putText: (text: string): unknown => {
      const bytes = bytesOf(text);
      const isWhole = bytes <= leftBytes;
      isTruncated ||= !isWhole;
      const kept = isWhole ? text : cutText(text, Math.floor((text.length * leftBytes * FILL) / bytes));
      const redacted = redactText(kept, names, budget, count);
      if (redacted === undefined) return exhaust();
      return redacted === text ? put(text, bytes) : put(redacted);
    },
    putNumber: (number: number): unknown => {
      if (Math.abs(number) < MIN_CARD_NUMBER) return put(number);
      const text = String(number);
      const redacted = redactText(text, names, budget, count);
      if (redacted === undefined) return exhaust();
      return put(redacted === text ? number : redacted);
    },
    /** The marker of a value that is replaced, whatever it is. */
    putMarker: (name: string): unknown => {
      count(name, 1);
      return put(markerOf(name));
    },
    /** Takes the room for an array or an object. Returns false if there is none. */
    open: (): boolean => {
      if (leftBytes < LEAST_BYTES) return false;
      leftBytes -= VALUE_BYTES;
      return true;
    },
    /** Takes characters that were added to a text. */
    grow: (characters: number): void => {
      leftBytes = Math.max(0, leftBytes - characters);
    },
    /** Takes the steps for one more value. Returns false if there are none, or no room. */
    hasMore: (): boolean => {
      budget.left -= VALUE_STEPS;
      return leftBytes >= LEAST_BYTES && budget.left > 0;
    },
    /** Leaves everything out from here on. Returns the text in place of it. */
    leaveOut: (): string => (budget.left > 0 ? cut() : exhaust()),
    cut,
    counts,
    isTruncated: (): boolean => isTruncated,
  };
};
