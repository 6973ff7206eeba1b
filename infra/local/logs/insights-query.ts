/** A value of a field of a log line. */
export type FieldValue = string | number | boolean | null | undefined;
/** Reads a field of a line, such as `@timestamp`, `code` or `step_ends_ms.0`. */
export type ReadField = (field: string) => FieldValue;
export type Condition = (read: ReadField) => boolean;

export interface Column {
  /** The field that is read, or that is aggregated. */
  field: string;
  as: string;
}
type Aggregation = 'count' | 'sum' | 'min' | 'max';

export interface InsightsQuery {
  /** The beginnings of log groups' names that `SOURCE` names; none: the call names the groups. */
  prefixes: readonly string[];
  /** The fields of each line that the result has, unless lines are aggregated. */
  columns: readonly Column[];
  filters: readonly Condition[];
  stats: { aggregations: readonly (Column & { kind: Aggregation })[]; by: readonly string[] } | undefined;
  sort: { field: string; descending: boolean } | undefined;
  limit: number;
}

const DEFAULT_COLUMNS = ['@timestamp', '@message'];
const DEFAULT_LIMIT = 10_000;
const TOKEN = /\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]+`|!=|>=|<=|[|()[\],:=<>*]|[\w@.-]+)/y;

const tokensOf = (text: string): string[] => {
  const lines = text.replaceAll(/^\s*#.*$/gm, '').trimEnd();
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < lines.length) {
    const at = TOKEN.lastIndex;
    const [, token] = TOKEN.exec(lines) ?? [];
    if (token === undefined) throw new SyntaxError(`unexpected symbol found at ${lines.slice(at, at + 20).trim()}`);
    tokens.push(token);
  }
  return tokens;
};

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
};

/** The order of two values: of numbers if both are, otherwise of texts. A text that is a number counts as one. */
export const compareValues = (one: FieldValue, other: FieldValue): number => {
  const [a, b] = [String(one), String(other)];
  const [x, y] = [Number(a), Number(b)];
  if (a !== '' && b !== '' && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a === b ? 0 : a < b ? -1 : 1;
};

const unquoted = (token: string): string => token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
const isText = (token: string): boolean => token.startsWith("'") || token.startsWith('"');
const AGGREGATIONS: readonly string[] = ['count', 'sum', 'min', 'max'] satisfies Aggregation[];
const isAggregation = (token: string): token is Aggregation => AGGREGATIONS.includes(token);

/**
 * Parses a query of CloudWatch Logs Insights that has only the commands SOURCE, fields, filter, stats, sort and
 * limit, and of their parts only those that docs/runbook.md needs
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html).
 * @throws SyntaxError if the query has anything else
 */
export const parseQuery = (text: string): InsightsQuery => {
  const tokens = tokensOf(text);
  const peek = (): string => tokens[0] ?? '';
  const take = (): string => tokens.shift() ?? '';
  const expect = (...expected: string[]): void => {
    for (const token of expected) {
      const found = take();
      if (found !== token) throw new SyntaxError(`expected ${token} but found ${found || 'the end'}`);
    }
  };
  const accept = (token: string): boolean => peek() === token && take() !== '';
  const listOf = <Item>(item: () => Item): Item[] => {
    const items = [item()];
    while (accept(',')) items.push(item());
    return items;
  };
  const fieldName = (): string => {
    const token = take();
    if (token.startsWith('`')) return unquoted(token);
    if (!/^[\w@.-]+$/.test(token)) throw new SyntaxError(`expected a field but found ${token || 'the end'}`);
    return token;
  };
  const constant = (): string => {
    const token = take();
    if (isText(token)) return unquoted(token);
    if (!/^-?\d+(?:\.\d+)?$/.test(token)) throw new SyntaxError(`expected a text in quotes or a number but found ${token || 'the end'}`);
    return token;
  };
  const wholeNumber = (): number => {
    const token = take();
    if (!/^\d+$/.test(token)) throw new SyntaxError(`expected a number but found ${token || 'the end'}`);
    return Number(token);
  };

  const comparison = (): Condition => {
    if (accept('(')) {
      const group = alternatives();
      expect(')');
      return group;
    }
    if (accept('not')) {
      const inner = comparison();
      return (read) => !inner(read);
    }
    const field = fieldName();
    if (field === 'ispresent' && accept('(')) {
      const present = fieldName();
      expect(')');
      return (read) => (read(present) ?? null) !== null;
    }
    const operator = take();
    if (operator === 'in') {
      expect('[');
      const values = listOf(constant);
      expect(']');
      return (read) => values.some((value) => compareValues(read(field), value) === 0);
    }
    const value = constant();
    if (operator === 'like') return (read) => String(read(field) ?? '').includes(value);
    const holds = COMPARISONS[operator];
    if (!holds) throw new SyntaxError(`unexpected symbol found ${operator}`);
    return (read) => {
      const found = read(field) ?? null;
      return found !== null && holds(compareValues(found, value));
    };
  };
  const conjunction = (): Condition => {
    const parts = [comparison()];
    while (accept('and')) parts.push(comparison());
    return (read) => parts.every((holds) => holds(read));
  };
  const alternatives = (): Condition => {
    const parts = [conjunction()];
    while (accept('or')) parts.push(conjunction());
    return (read) => parts.some((holds) => holds(read));
  };
  const column = (): Column => {
    const field = fieldName();
    return { field, as: accept('as') ? fieldName() : field };
  };
  const aggregation = (): Column & { kind: Aggregation } => {
    const kind = take();
    if (!isAggregation(kind)) throw new SyntaxError(`the local run does not support ${kind || 'an empty stats'}`);
    expect('(');
    const field = accept('*') ? '*' : fieldName();
    expect(')');
    return { kind, field, as: accept('as') ? fieldName() : `${kind}(${field})` };
  };

  let prefixes: string[] = [];
  let columns: Column[] = [];
  let stats: InsightsQuery['stats'];
  let sort: InsightsQuery['sort'];
  let limit = DEFAULT_LIMIT;
  const filters: Condition[] = [];
  const commands: Readonly<Record<string, () => void>> = {
    SOURCE: () => {
      expect('logGroups', '(', 'namePrefix', ':', '[');
      prefixes = listOf(constant);
      expect(']', ')');
    },
    fields: () => {
      columns = listOf(column);
    },
    filter: () => {
      filters.push(alternatives());
    },
    stats: () => {
      stats = { aggregations: listOf(aggregation), by: accept('by') ? listOf(fieldName) : [] };
    },
    sort: () => {
      const field = fieldName();
      const descending = accept('desc');
      if (!descending) accept('asc');
      sort = { field, descending };
    },
    limit: () => {
      limit = wholeNumber();
    },
  };
  do {
    const name = take();
    const command = commands[name];
    if (!command) throw new SyntaxError(`the local run does not support the command ${name || '(none)'}`);
    command();
  } while (accept('|'));
  if (tokens.length > 0) throw new SyntaxError(`unexpected symbol found ${peek()}`);
  if (columns.length === 0) columns = DEFAULT_COLUMNS.map((field) => ({ field, as: field }));
  return { prefixes, columns, filters, stats, sort, limit };
};
