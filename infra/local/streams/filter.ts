/** Whether a record passes. */
export type Filter = (record: unknown) => boolean;

/**
 * A filter pattern of an event source mapping: an object matches when all of its properties do, a list when one of its rules does. The rules known
 * here are a text, which must be equal, and `{"prefix": …}`.
 * @param where names the mapping in errors
 * @throws Error naming a rule that is not known
 */
export const compileFilter = (pattern: unknown, where: string): Filter => {
  if (Array.isArray(pattern)) {
    const rules = pattern.map((rule) => compileRule(rule, where));
    return (value) => rules.some((matches) => matches(value));
  }
  if (typeof pattern !== 'object' || pattern === null) throw unknown(pattern, where);
  const properties = Object.entries(pattern).map(([name, inner]) => ({ name, matches: compileFilter(inner, where) }));
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    properties.every(({ name, matches }) => matches((value as Record<string, unknown>)[name]));
};

const compileRule = (rule: unknown, where: string): Filter => {
  if (typeof rule === 'string') return (value) => value === rule;
  const [[operator, operand] = [], ...others] = Object.entries(rule ?? {});
  if (operator !== 'prefix' || typeof operand !== 'string' || others.length > 0) throw unknown(rule, where);
  return (value) => typeof value === 'string' && value.startsWith(operand);
};

const unknown = (rule: unknown, where: string): Error =>
  new Error(`The local run filters by text and by prefix only, not by ${JSON.stringify(rule)} (${where})`);
