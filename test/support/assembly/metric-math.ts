/** A value at a time; undefined: there is no data. */
export type Value = number | undefined;

interface Options {
  /** True if FILL also fills a series without any value. */
  fillsEmpty: boolean;
}

const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|>=|<=|[-+*/()<>,[\]])/y;

const tokensOf = (expression: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const [, token] = TOKEN.exec(expression) ?? [];
    if (token === undefined) throw new Error(`Unknown metric math at ${at}: ${expression}`);
    tokens.push(token);
  }
  return tokens;
};

// There is no value if one of the two has none.
const both =
  (operation: (a: number, b: number) => Value) =>
  (a: Value, b: Value): Value =>
    a === undefined || b === undefined ? undefined : operation(a, b);

const OPERATORS: Readonly<Record<string, { level: number; of: (a: Value, b: Value) => Value }>> = {
  '>': { level: 1, of: both((a, b) => Number(a > b)) },
  '<': { level: 1, of: both((a, b) => Number(a < b)) },
  '>=': { level: 1, of: both((a, b) => Number(a >= b)) },
  '<=': { level: 1, of: both((a, b) => Number(a <= b)) },
  '+': { level: 2, of: both((a, b) => a + b) },
  '-': { level: 2, of: both((a, b) => a - b) },
  '*': { level: 3, of: both((a, b) => a * b) },
  // CloudWatch has no value where it would divide by zero.
  '/': { level: 3, of: both((a, b) => (b === 0 ? undefined : a / b)) },
};

/**
 * Evaluates an expression of CloudWatch's metric math
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html) at one time: arithmetic,
 * comparisons, IF, FILL and SUM of a list.
 * @param lookUp the value of another metric or expression
 * @throws Error if the expression has anything else
 */
export const evaluate = (expression: string, lookUp: (id: string) => Value, { fillsEmpty }: Options): Value => {
  const tokens = tokensOf(expression);
  const take = (expected?: string): string => {
    const token = tokens.shift();
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new Error(`Expected ${expected ?? 'more'}, not ${token ?? 'the end'}: ${expression}`);
    return token;
  };
  const list = (): Value[] => {
    const values: Value[] = [];
    do values.push(operation(1));
    while (tokens[0] === ',' && take());
    return values;
  };
  // Where some series have no value, it is the sum of the others.
  const sum = (): Value => {
    take('[');
    const values = list().filter((value) => value !== undefined);
    take(']');
    take(')');
    return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
  };
  const call = (name: string): Value => {
    if (name === 'SUM') return sum();
    const given = list();
    take(')');
    const [first, second, third] = given;
    if (name === 'FILL' && given.length === 2) return first ?? (fillsEmpty ? second : undefined);
    if (name === 'IF' && given.length === 3) return first === undefined ? undefined : first ? second : third;
    throw new Error(`Unknown function ${name} of ${given.length}: ${expression}`);
  };
  const operand = (): Value => {
    const token = take();
    if (/^\d/.test(token)) return Number(token);
    if (token === '(') {
      const inner = operation(1);
      take(')');
      return inner;
    }
    if (tokens[0] !== '(') return lookUp(token);
    take('(');
    return call(token);
  };
  const operation = (level: number): Value => {
    if (level > 3) return operand();
    let left = operation(level + 1);
    for (let next = OPERATORS[tokens[0] ?? '']; next?.level === level; next = OPERATORS[tokens[0] ?? '']) {
      take();
      left = next.of(left, operation(level + 1));
    }
    return left;
  };
  const result = operation(1);
  if (tokens.length > 0) throw new Error(`Unexpected ${tokens[0]}: ${expression}`);
  return result;
};
