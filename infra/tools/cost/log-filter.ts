/** A log line in JSON. */
export type LogLine = Readonly<Record<string, unknown>>;
type Matches = (line: LogLine) => boolean;

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|\$\.[\w.[\]]+|&&|\|\||!=|>=|<=|[()=<>]|-?\d+(?:\.\d+)?|[A-Z]+)/y;

const tokensOf = (text: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) throw new Error(`Unknown filter pattern: ${text}`);
    tokens.push(token);
  }
  return tokens;
};

/** A field by its selector, such as `$.states.failed` or `$.ends[3]`. */
export const fieldOf = (line: LogLine, selector: string): unknown =>
  selector
    .slice(2)
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], line);

const numeric = (compare: (a: number, b: number) => boolean) => (field: unknown, value: unknown) =>
  typeof field === 'number' && typeof value === 'number' && compare(field, value);

// Comparisons with a missing field are false.
const COMPARISONS: Readonly<Record<string, (field: unknown, value: unknown) => boolean>> = {
  '=': (field, value) => field === value,
  '!=': (field, value) => field !== undefined && field !== value,
  '>': numeric((a, b) => a > b),
  '>=': numeric((a, b) => a >= b),
  '<': numeric((a, b) => a < b),
  '<=': numeric((a, b) => a <= b),
};

/**
 * Compiles a CloudWatch Logs filter pattern for lines in JSON (docs.aws.amazon.com, "FilterAndPatternSyntax").
 * @throws Error if the pattern has any other syntax
 */
export const compileLogFilter = (pattern: string): Matches => {
  const [, inner] = /^\{(.*)\}$/s.exec(pattern) ?? [];
  if (inner === undefined) throw new Error(`Not a pattern for JSON: ${pattern}`);
  const tokens = tokensOf(inner.trim());
  const take = (): string => tokens.shift() ?? '';
  const condition = (): Matches => {
    const selector = take();
    if (selector === '(') {
      const group = alternatives();
      if (take() !== ')') throw new Error(`Expected a closing bracket: ${pattern}`);
      return group;
    }
    const operator = take();
    if (operator === 'NOT' && take() === 'EXISTS') return (line) => fieldOf(line, selector) === undefined;
    if (operator === 'IS') {
      const isTrue = take() === 'TRUE';
      return (line) => fieldOf(line, selector) === isTrue;
    }
    const compare = COMPARISONS[operator];
    if (!compare) throw new Error(`Unknown operator '${operator}': ${pattern}`);
    const value: unknown = JSON.parse(take());
    return (line) => compare(fieldOf(line, selector), value);
  };
  const joined = (by: string, next: () => Matches, join: (parts: Matches[]) => Matches) => (): Matches => {
    const parts = [next()];
    while (tokens[0] === by && take()) parts.push(next());
    return join(parts);
  };
  const conjunction = joined('&&', condition, (parts) => (line) => parts.every((matches) => matches(line)));
  const alternatives = joined('||', conjunction, (parts) => (line) => parts.some((matches) => matches(line)));
  const matches = alternatives();
  if (tokens.length > 0) throw new Error(`Unexpected ${tokens[0]}: ${pattern}`);
  return matches;
};
