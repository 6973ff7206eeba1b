import { ANY, type PathSegment, parseJsonPath } from '../json-path.ts';
import type { RedactionRules } from '../settings.ts';
import { MAX_STEPS } from './budget.ts';
import { leftOutAs } from './left-out.ts';
import { createRoom } from './room.ts';

// Deeper values are left out.
const MAX_DEPTH = 100;

/** Content after redaction. */
export interface Redacted {
  value: unknown;
  /** Something was left out because it was too large, or would have taken too long. */
  isTruncated: boolean;
  /** The number of replacements of each kind of content. */
  counts: Record<string, number>;
}

// The rest of each path that leads to a value.
type Paths = readonly (readonly PathSegment[])[];

const NO_PATHS: Paths = [];

/**
 * Redacts JSON. The result is JSON, at most `maxBytes` large; content that doesn't fit is left out. Redacting it again
 * changes nothing, unless it was cut.
 * @param value as `JSON.parse` returns it
 * @param maxSteps the most work; content after it is left out
 */
export const redactValue = (value: unknown, rules: RedactionRules, maxBytes: number, maxSteps: number = MAX_STEPS): Redacted => {
  const room = createRoom(rules, maxBytes, maxSteps);

  /** The value of a field or an element, to which these paths led. */
  const childOf = (child: unknown, key: string | number, paths: Paths, depth: number, leftOut?: string): unknown => {
    const after = paths === NO_PATHS ? NO_PATHS : paths.flatMap(([next, ...further]) => (next === ANY || next === key ? [further] : []));
    if (after.some((path) => path.length === 0)) return room.putMarker('path');
    return leftOut ? room.putMarker(leftOut) : redactedOf(child, after.length > 0 ? after : NO_PATHS, depth + 1);
  };

  const arrayOf = (array: readonly unknown[], paths: Paths, depth: number): unknown[] => {
    const elements: unknown[] = [];
    for (const [i, element] of array.entries()) {
      if (!room.hasMore()) {
        elements.push(room.leaveOut());
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
      if (!room.hasMore()) {
        const left = room.leaveOut();
        fields.set(left, left);
        break;
      }
      const written = String(room.putText(name));
      let unique = written;
      // Two names can become the same, such as two addresses.
      for (let number = numbers.get(written) ?? 2; fields.has(unique); number++) {
        unique = `${written}#${number}`;
        numbers.set(written, number + 1);
      }
      room.grow(unique.length - written.length);
      fields.set(unique, childOf(object[name], name, paths, depth, leftOutAs(name, object, rules.tool_arguments)));
    }
    return Object.fromEntries(fields);
  };

  const redactedOf = (current: unknown, paths: Paths, depth: number): unknown => {
    if (typeof current === 'string') return room.putText(current);
    if (typeof current === 'number') return room.putNumber(current);
    if (typeof current !== 'object' || current === null) return room.put(current ?? null);
    if (depth >= MAX_DEPTH) return room.putMarker('depth');
    if (!room.open()) return room.cut();
    return Array.isArray(current) ? arrayOf(current, paths, depth) : objectOf(current as Record<string, unknown>, paths, depth);
  };

  const paths = rules.paths.flatMap((path) => {
    const segments = parseJsonPath(path);
    return segments ? [segments] : [];
  });
  return { value: redactedOf(value, paths.length > 0 ? paths : NO_PATHS, 0), isTruncated: room.isTruncated(), counts: room.counts };
};
