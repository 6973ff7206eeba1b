import fc from 'fast-check';

// Stands for JSON that is too deep to be written again.
const DEEP = '@deep';
const deepJson = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

/** JSON in which the text `@deep` is a very deep list. */
export const toJson = (value: unknown): string => JSON.stringify(value).replaceAll(`"${DEEP}"`, deepJson);

/** A value that a broken runtime could send in place of any other. */
export const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, [null], {}, [], '', 0, -1, 1e300, true, { index: 'x' }, [{ function: null }], DEEP),
  // Can't be converted to text or a number.
  fc.constantFrom({ toString: 1 }, [{ toString: 1 }]),
);

// The paths of all values in a value, and of one more in each object and list.
const pathsIn = (value: unknown): string[][] => {
  if (typeof value !== 'object' || value === null) return [[]];
  const inner = Object.entries(value).flatMap(([key, each]) => pathsIn(each).map((rest) => [key, ...rest]));
  return [[], ...inner, [Array.isArray(value) ? String(value.length) : 'tool_calls']];
};

const change = (value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown => {
  if (key === undefined) return to;
  const changed = { ...(value as object), [key]: change((value as Record<string, unknown>)[key], rest, to) };
  return Array.isArray(value) ? Object.values(changed) : changed;
};

/** A value of a runtime's answer with any value in any place. */
export const malformed = (value: unknown): fc.Arbitrary<unknown> =>
  fc.tuple(fc.constantFrom(...pathsIn(value)), anyValue).map(([path, to]) => change(value, path, to));
