export type Filter = (record: unknown) => boolean;

/**
 * Compiles a pattern of an event source mapping or a rule of EventBridge. An object matches if all of its properties
 * match, a list if one of its rules does. The supported rules are a string, which must be equal, and `{"prefix": …}`.
 * @param where the mapping or rule, for error messages
 * @throws Error naming a rule that is not supported
 */
export const compileFilter = (pattern: unknown, where: string): Filter => {
  if (Array.isArray(pattern)) {
    const rules = pattern.map((rule) => compileRule(rule, where));
    return (value) => rules.some((matches) => matches(value));
  }
  if (typeof pattern !== 'object' || pattern === null) throw unsupported(pattern, where);
  const properties = Object.entries(pattern).map(([name, inner]) => ({ name, matches: compileFilter(inner, where) }));
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    properties.every(({ name, matches }) => matches((value as Record<string, unknown>)[name]));
};

const compileRule = (rule: unknown, where: string): Filter => {
  if (typeof rule === 'string') return (value) => value === rule;
  const [[operator, operand] = [], ...others] = Object.entries(rule ?? {});
  if (operator !== 'prefix' || typeof operand !== 'string' || others.length > 0) throw unsupported(rule, where);
  return (value) => typeof value === 'string' && value.startsWith(operand);
};

const unsupported = (rule: unknown, where: string): Error =>
  new Error(`The local run supports filters by text and by prefix only, not by ${JSON.stringify(rule)} (${where})`);
