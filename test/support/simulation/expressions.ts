import type { Item } from '../../../shared/database/database.ts';

/** The input of an expression of DynamoDB. */
export interface Evaluated {
  item: Item | undefined;
  names: Readonly<Record<string, string>>;
  values: Item;
}

type Operand = (on: Evaluated) => unknown;
type Condition = (on: Evaluated) => boolean;
type Step = string | number;

/** An update of an item; the item before it stays as it is. */
export type Update = (on: Evaluated) => Item;

const TOKEN = /\s*(:\w+|#\w+|\w+|<=|>=|<>|[()=<>,.[\]+-])/y;

const tokensOf = (text: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) throw new Error(`Not an expression of DynamoDB: ${text}`);
    tokens.push(token);
  }
  return tokens;
};

type Numeric = number | bigint;
const isNumeric = (value: unknown): value is Numeric => typeof value === 'number' || typeof value === 'bigint';

// Exact: a number, or a bigint where a number would not be.
const plus = (one: Numeric, other: Numeric): Numeric => {
  const sum = typeof one === 'number' && typeof other === 'number' ? one + other : BigInt(one) + BigInt(other);
  if (typeof sum === 'number') return Number.isSafeInteger(sum) ? sum : BigInt(one) + BigInt(other);
  return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum;
};

const minus = (one: Numeric, other: Numeric): Numeric => plus(one, -other);

// Undefined if DynamoDB can't compare them, and then every comparison is false.
const compare = (one: unknown, other: unknown): number | undefined => {
  if (isNumeric(one) && isNumeric(other)) return one < other ? -1 : one > other ? 1 : 0;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0;
  if (typeof one === 'boolean' && typeof other === 'boolean') return one === other ? 0 : 1;
  return undefined;
};

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string' || value instanceof Uint8Array || Array.isArray(value)) return value.length;
  return Object.keys(value as object).length;
};

const nameOf = (step: string, names: Evaluated['names']): string => (step.startsWith('#') ? (names[step] as string) : step);

const at = (path: readonly Step[], { item, names }: Evaluated): unknown => {
  let value: unknown = item;
  for (const step of path) {
    if (value === null || value === undefined) return undefined;
    value = (value as Record<string | number, unknown>)[typeof step === 'string' ? nameOf(step, names) : step];
  }
  return value;
};

class Parser {
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next];
  }

  #is(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#next++;
    return true;
  }

  #take(): string {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw new Error(`An expression ends too early: ${this.#tokens.join(' ')}`);
    return token;
  }

  #expect(token: string): void {
    if (!this.#is(token)) throw new Error(`Expected ${token} before ${this.#peek()} in ${this.#tokens.join(' ')}`);
  }

  #path(): Step[] {
    const path: Step[] = [this.#take()];
    for (;;) {
      if (this.#is('.')) path.push(this.#take());
      else if (this.#is('[')) {
        path.push(Number(this.#take()));
        this.#expect(']');
      } else return path;
    }
  }

  #inBrackets(): Step[] {
    this.#expect('(');
    const path = this.#path();
    this.#expect(')');
    return path;
  }

  #operand(): Operand {
    if (this.#is('size')) {
      const path = this.#inBrackets();
      return (on) => sizeOf(at(path, on));
    }
    if (this.#is('if_not_exists')) {
      this.#expect('(');
      const path = this.#path();
      this.#expect(',');
      const otherwise = this.#operand();
      this.#expect(')');
      return (on) => at(path, on) ?? otherwise(on);
    }
    if (this.#peek()?.startsWith(':')) {
      const name = this.#take();
      return ({ values }) => values[name];
    }
    const path = this.#path();
    return (on) => at(path, on);
  }

  #primary(): Condition {
    if (this.#is('(')) {
      const inner = this.#either();
      this.#expect(')');
      return inner;
    }
    if (this.#is('attribute_exists')) {
      const path = this.#inBrackets();
      return (on) => at(path, on) !== undefined;
    }
    if (this.#is('attribute_not_exists')) {
      const path = this.#inBrackets();
      return (on) => at(path, on) === undefined;
    }
    const left = this.#operand();
    if (this.#is('BETWEEN')) {
      const low = this.#operand();
      this.#expect('AND');
      const high = this.#operand();
      return (on) => {
        const value = left(on);
        return (compare(value, low(on)) ?? -1) >= 0 && (compare(value, high(on)) ?? 1) <= 0;
      };
    }
    const comparison = COMPARISONS[this.#take()];
    if (!comparison) throw new Error(`Unknown comparison in ${this.#tokens.join(' ')}`);
    const right = this.#operand();
    return (on) => {
      const order = compare(left(on), right(on));
      return order !== undefined && comparison(order);
    };
  }

  #negated(): Condition {
    if (!this.#is('NOT')) return this.#primary();
    const inner = this.#negated();
    return (on) => !inner(on);
  }

  #both(): Condition {
    const clauses = [this.#negated()];
    while (this.#is('AND')) clauses.push(this.#negated());
    return (on) => clauses.every((clause) => clause(on));
  }

  #either(): Condition {
    const clauses = [this.#both()];
    while (this.#is('OR')) clauses.push(this.#both());
    return (on) => clauses.some((clause) => clause(on));
  }

  condition(): Condition {
    const whole = this.#either();
    if (this.#peek() !== undefined) throw new Error(`Expected the end before ${this.#peek()} in ${this.#tokens.join(' ')}`);
    return whole;
  }

  #set(): Change {
    const path = this.#path();
    this.#expect('=');
    const left = this.#operand();
    const sign = this.#is('+') ? plus : this.#is('-') ? minus : undefined;
    if (!sign) return (on, change) => change(path, left(on));
    const right = this.#operand();
    return (on, change) => {
      const [one, other] = [left(on), right(on)];
      if (!isNumeric(one) || !isNumeric(other)) throw new Error(`Not numbers: ${this.#tokens.join(' ')}`);
      change(path, sign(one, other));
    };
  }

  #add(): Change {
    const path = this.#path();
    const amount = this.#operand();
    return (on, change) => change(path, plus((at(path, on) ?? 0) as Numeric, amount(on) as Numeric));
  }

  #remove(): Change {
    const path = this.#path();
    return (_, change) => change(path, undefined);
  }

  #list(element: () => Change): Change[] {
    const changes = [element()];
    while (this.#is(',')) changes.push(element());
    return changes;
  }

  update(): Update {
    const changes: Change[] = [];
    while (this.#peek() !== undefined) {
      const section = this.#take();
      if (section === 'SET') changes.push(...this.#list(() => this.#set()));
      else if (section === 'ADD') changes.push(...this.#list(() => this.#add()));
      else if (section === 'REMOVE') changes.push(...this.#list(() => this.#remove()));
      else throw new Error(`Unknown section ${section} in ${this.#tokens.join(' ')}`);
    }
    // All operands are those of the item before the update.
    return (on) => {
      const item: Item = { ...on.item };
      const copied = new Set<string>();
      const change = (path: readonly Step[], value: unknown): void => {
        const [first, second] = path.map((step) => nameOf(String(step), on.names)) as [string, string?];
        if (second !== undefined && !copied.has(first)) item[first] = { ...(item[first] as Item) };
        copied.add(first);
        if (second === undefined) put(item, first, value);
        else put(item[first] as Item, second, value);
      };
      for (const one of changes) one(on, change);
      return item;
    };
  }
}

type Change = (on: Evaluated, change: (path: readonly Step[], value: unknown) => void) => void;

const put = (item: Item, name: string, value: unknown): void => {
  if (value === undefined) delete item[name];
  else item[name] = value;
};

// Names and values are not in the texts, so there are few of them.
const MAX_PARSED = 10_000;

const parsedOnce = <Parsed>(parse: (text: string) => Parsed) => {
  const known = new Map<string, Parsed>();
  return (text: string): Parsed => {
    const before = known.get(text);
    if (before) return before;
    const parsed = parse(text);
    if (known.size < MAX_PARSED) known.set(text, parsed);
    return parsed;
  };
};

/** A condition expression. @throws Error for syntax that this project doesn't use */
export const readCondition = parsedOnce((text) => new Parser(text).condition());

/** An update expression: SET, ADD and REMOVE of attributes and of entries of maps. @throws Error as above */
export const readUpdate = parsedOnce((text) => new Parser(text).update());
