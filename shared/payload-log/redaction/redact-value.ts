import { ANY, parseJsonPath, type Segment } from '../json-path.ts';
import type { PatternName, RedactionRules } from '../settings.ts';
import { type Budget, MAX_STEPS, VALUE_STEPS } from './budget.ts';
import { CUT, cutText } from './cut-text.ts';
import { jsonBytesOf } from './json-bytes.ts';
import { leftOutAs } from './left-out.ts';
import { markerOf, redactText } from './redact-text.ts';

/** Deeper values are left out. */
const MAX_DEPTH = 100;
/** What a value takes besides its own text. */
const VALUE_BYTES = 8;
/** A text that is too long is cut to this part of the room, because its characters can differ in size. */
const FILL = 0.9;
/** With less room, the rest of an array or an object is left out. */
const LEAST_BYTES = 16;

/** From this number on, a number can be that of a card. */
const MIN_CARD_NUMBER = 1e12;
/** The name of the marker of what was not searched, because the budget was used up. */
const BUDGET = 'budget';

/** Content after redaction. */
export interface Redacted {
  value: unknown;
  /** Whether something was left out because it was too large, or would have taken too long. */
  isTruncated: boolean;
  /** How often each kind of content was replaced. */
  counts: Record<string, number>;
}

const bytesOf = (value: unknown): number => (typeof value === 'string' ? jsonBytesOf(value) : String(value).length) + VALUE_BYTES;

/** The rest of each path that leads to a value. */
type Paths = readonly (readonly Segment[])[];

const NO_PATHS: Paths = [];

/**
 * Redacts JSON. The result is JSON, at most `maxBytes` large; what doesn't fit is left out. Redacting it again
 * changes nothing, unless it was cut.
 * @param value as `JSON.parse` returns it
 * @param maxSteps the most work. What is left after it is left out
 */
export const redactValue = (value: unknown, rules: RedactionRules, maxBytes: number, maxSteps: number = MAX_STEPS): Redacted => {
  const counts: Record<string, number> = {};
  const patterns = new Set<PatternName>(rules.patterns);
  const budget: Budget = { left: maxSteps };
  let leftBytes = maxBytes;
  let isTruncated = false;
  /** What stands for everything that is left out, once something is. */
  let rest = CUT;

  const count = (name: string, times: number): void => {
    counts[name] = (counts[name] ?? 0) + times;
  };
  /** What doesn't fit, and everything after it, is left out. */
  const cut = (): string => {
    isTruncated = true;
    leftBytes = 0;
    return rest;
  };
  /** The same for what the budget has no steps for. */
  const exhaust = (): string => {
    if (leftBytes > 0) {
      rest = markerOf(BUDGET);
      count(BUDGET, 1);
    }
    return cut();
  };
  /** The value, if there is room for it. */
  const fitting = (result: unknown, bytes = bytesOf(result)): unknown => {
    if (bytes > leftBytes) return cut();
    leftBytes -= bytes;
    return result;
  };
  const mark = (name: string): unknown => {
    count(name, 1);
    return fitting(markerOf(name));
  };

  const textOf = (text: string): unknown => {
    const bytes = bytesOf(text);
    const isWhole = bytes <= leftBytes;
    isTruncated ||= !isWhole;
    const kept = isWhole ? text : cutText(text, Math.floor((text.length * leftBytes * FILL) / bytes));
    const redacted = redactText(kept, patterns, budget, count);
    if (redacted === undefined) return exhaust();
    return redacted === text ? fitting(text, bytes) : fitting(redacted);
  };

  const numberOf = (number: number): unknown => {
    if (Math.abs(number) < MIN_CARD_NUMBER) return fitting(number);
    const text = String(number);
    const redacted = redactText(text, patterns, budget, count);
    if (redacted === undefined) return exhaust();
    return fitting(redacted === text ? number : redacted);
  };

  /** The value of a field or an element, to which these paths led. */
  const childOf = (child: unknown, key: string | number, paths: Paths, depth: number, leftOut?: string): unknown => {
    const after = paths === NO_PATHS ? NO_PATHS : paths.flatMap(([next, ...further]) => (next === ANY || next === key ? [further] : []));
    if (after.some((path) => path.length === 0)) return mark('path');
    return leftOut ? mark(leftOut) : redactedOf(child, after.length > 0 ? after : NO_PATHS, depth + 1);
  };

  /** Whether there is room, and are steps, for one more value. */
  const hasRoom = (): boolean => {
    budget.left -= VALUE_STEPS;
    return leftBytes >= LEAST_BYTES && budget.left > 0;
  };
  const leaveOut = (): string => (budget.left > 0 ? cut() : exhaust());

  const arrayOf = (array: readonly unknown[], paths: Paths, depth: number): unknown[] => {
    const elements: unknown[] = [];
    for (const [i, element] of array.entries()) {
      if (!hasRoom()) {
        elements.push(leaveOut());
        break;
      }
      elements.push(childOf(element, i, paths, depth));
    }
    return elements;
  };

  const objectOf = (object: Record<string, unknown>, paths: Paths, depth: number): Record<string, unknown> => {
    const fields = new Map<string, unknown>();
    const numbers = new Map<string, number>();
    for (const name of Object.keys(object)) {
      if (!hasRoom()) {
        const left = leaveOut();
        fields.set(left, left);
        break;
      }
      const written = String(textOf(name));
      let unique = written;
      // Two names can become the same, such as two addresses.
      for (let number = numbers.get(written) ?? 2; fields.has(unique); number++) {
        unique = `${written}#${number}`;
        numbers.set(written, number + 1);
      }
      leftBytes = Math.max(0, leftBytes - (unique.length - written.length));
      fields.set(unique, childOf(object[name], name, paths, depth, leftOutAs(name, object, rules.tool_arguments)));
    }
    return Object.fromEntries(fields);
  };

  const redactedOf = (current: unknown, paths: Paths, depth: number): unknown => {
    if (typeof current === 'string') return textOf(current);
    if (typeof current === 'number') return numberOf(current);
    if (typeof current !== 'object' || current === null) return fitting(current ?? null);
    if (depth >= MAX_DEPTH) return mark('depth');
    if (leftBytes < LEAST_BYTES) return cut();
    leftBytes -= VALUE_BYTES;
    return Array.isArray(current) ? arrayOf(current, paths, depth) : objectOf(current as Record<string, unknown>, paths, depth);
  };

  const paths = rules.paths.flatMap((path) => {
    const segments = parseJsonPath(path);
    return segments ? [segments] : [];
  });
  return { value: redactedOf(value, paths.length > 0 ? paths : NO_PATHS, 0), isTruncated, counts };
};
