import { ANY, parseJsonPath, type Segment } from '../../../shared/payload-log/json-path.ts';
import type { PatternName, RedactionRules } from '../../../shared/payload-log/settings.ts';
import { CUT, cutText } from './cut-text.ts';
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

/** Content after redaction. */
export interface Redacted {
  value: unknown;
  isTruncated: boolean;
  /** How often each kind of content was replaced. */
  counts: Record<string, number>;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + VALUE_BYTES;

/** The rest of each path that leads to a value. */
type Paths = readonly (readonly Segment[])[];

const NO_PATHS: Paths = [];

/**
 * Redacts JSON. The result is JSON, at most `maxBytes` large; what doesn't fit is left out. Redacting it again changes nothing, unless it was cut.
 * @param value as `JSON.parse` returns it
 */
export const redactValue = (value: unknown, rules: RedactionRules, maxBytes: number): Redacted => {
  const counts: Record<string, number> = {};
  const patterns = new Set<PatternName>(rules.patterns);
  let leftBytes = maxBytes;
  let isTruncated = false;

  const count = (name: string, times: number): void => {
    counts[name] = (counts[name] ?? 0) + times;
  };
  /** What doesn't fit, and everything after it, is left out. */
  const cut = (): string => {
    isTruncated = true;
    leftBytes = 0;
    return CUT;
  };
  /** The value, if there is room for it. */
  const fitting = (result: unknown): unknown => {
    const bytes = bytesOf(result);
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
    if (bytes <= leftBytes) return fitting(redactText(text, patterns, count));
    isTruncated = true;
    return fitting(redactText(cutText(text, Math.floor((text.length * leftBytes * FILL) / bytes)), patterns, count));
  };

  const numberOf = (number: number): unknown => {
    const text = String(number);
    const redacted = redactText(text, patterns, count);
    return fitting(redacted === text ? number : redacted);
  };

  /** The value of a field or an element, to which these paths led. */
  const childOf = (child: unknown, key: string | number, paths: Paths, depth: number, leftOut?: string): unknown => {
    const rest = paths === NO_PATHS ? NO_PATHS : paths.flatMap(([next, ...after]) => (next === ANY || next === key ? [after] : []));
    if (rest.some((path) => path.length === 0)) return mark('path');
    return leftOut ? mark(leftOut) : redactedOf(child, rest.length > 0 ? rest : NO_PATHS, depth + 1);
  };

  const arrayOf = (array: readonly unknown[], paths: Paths, depth: number): unknown[] => {
    const elements: unknown[] = [];
    for (const [i, element] of array.entries()) {
      if (leftBytes < LEAST_BYTES) {
        elements.push(cut());
        break;
      }
      elements.push(childOf(element, i, paths, depth));
    }
    return elements;
  };

  const objectOf = (object: Record<string, unknown>, paths: Paths, depth: number): Record<string, unknown> => {
    const fields = new Map<string, unknown>();
    const numbers = new Map<string, number>();
    for (const [name, child] of Object.entries(object)) {
      if (leftBytes < LEAST_BYTES) {
        fields.set(CUT, cut());
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
      fields.set(unique, childOf(child, name, paths, depth, leftOutAs(name, object, rules.tool_arguments)));
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
