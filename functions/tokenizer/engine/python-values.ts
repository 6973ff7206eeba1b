import { Environment, Interpreter } from '@huggingface/jinja';

// Chat templates are written for Python's jinja2, and runtimes render them with it. This renderer treats some values as JavaScript does and drops
// arguments: `content.lstrip('\n')` removed all white space. This file corrects what templates use; test/ has Python's results.

/** The package's own declarations do not resolve for an ES module. */
interface Value {
  type: string;
  value: unknown;
}
interface Node {
  type: string;
}
type Make<Inner> = new (value: Inner) => Value;

/** The renderer does not export its values' classes. */
const classOf = <Inner>(value: unknown): Make<Inner> => (new Environment().set('sample', value) as Value).constructor as Make<Inner>;
const StringValue = classOf<string>('');
const IntegerValue = classOf<number>(0);
const BooleanValue = classOf<boolean>(true);
const FunctionValue = classOf<(args: Value[]) => Value>(() => null);

/** The characters of Python's `str.isspace`; JavaScript's white space includes U+FEFF, but not U+001C to U+001F and U+0085. */
const WHITE_SPACE = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

/** Python's `strip`, `lstrip` and `rstrip`: removes any of the characters, or white space, from the ends. */
const createStrip =
  (atStart: boolean, atEnd: boolean) =>
  (text: string, characters?: unknown): string => {
    const set = characters === undefined || characters === null ? WHITE_SPACE : new Set(characters as string);
    let start = 0;
    let end = text.length;
    while (atStart && start < end) {
      const character = String.fromCodePoint(text.codePointAt(start) as number);
      if (!set.has(character)) break;
      start += character.length;
    }
    while (atEnd && start < end) {
      const length = end - 2 >= start && (text.codePointAt(end - 2) as number) > 0xffff ? 2 : 1;
      if (!set.has(text.slice(end - length, end))) break;
      end -= length;
    }
    return text.slice(start, end);
  };
const strip = createStrip(true, true);

/** Python's `capitalize`: the rest becomes lower case. */
const capitalize = (text: string): string => {
  if (text === '') return text;
  const first = String.fromCodePoint(text.codePointAt(0) as number);
  const [head = '', ...tail] = first.toUpperCase();
  return head + tail.join('').toLowerCase() + text.toLowerCase().slice(first.toLowerCase().length);
};

/** The length in code points; JavaScript counts those beyond U+FFFF twice. */
const lengthOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

const methods: Record<string, (text: string, argument?: unknown) => string> = {
  strip,
  lstrip: createStrip(true, false),
  rstrip: createStrip(false, true),
  capitalize,
};

const onStrings =
  (filter: (text: string) => Value) =>
  (value: Value): Value | undefined =>
    value instanceof StringValue ? filter(value.value as string) : undefined;

/** Filters without arguments that differ from the renderer's; undefined: use the renderer's own. */
const filters: Record<string, (value: Value) => Value | undefined> = {
  trim: onStrings((text) => new StringValue(strip(text))),
  capitalize: onStrings((text) => new StringValue(capitalize(text))),
  length: onStrings((text) => new IntegerValue(lengthOf(text))),
  string: (value) => {
    if (value.type === 'NullValue') return new StringValue('None');
    return value instanceof BooleanValue ? new StringValue(value.toString()) : undefined;
  },
};

BooleanValue.prototype.toString = function (this: Value) {
  return this.value ? 'True' : 'False';
};

const builtins = Object.getOwnPropertyDescriptor(StringValue.prototype, 'builtins')?.get as (this: Value) => Map<string, Value>;
const amended = new WeakSet<object>();
Object.defineProperty(StringValue.prototype, 'builtins', {
  configurable: true,
  get(this: Value) {
    const own = builtins.call(this);
    if (amended.has(own)) return own;
    for (const [name, method] of Object.entries(methods))
      own.set(name, new FunctionValue(([argument]) => new StringValue(method(this.value as string, argument?.value))));
    amended.add(own);
    return own;
  },
});

interface FilterNode extends Node {
  operand: Node;
  filter: { type: string; value: string };
}
/** A node that is already evaluated, so that a filter's operand is evaluated only once. */
interface Evaluated extends Node {
  value: Value;
}

type Evaluate = (this: { evaluate: Evaluate }, node: Node | undefined, environment: unknown) => Value;
const interpreter: { evaluate: Evaluate } = Interpreter.prototype;
const { evaluate } = interpreter;
interpreter.evaluate = function (node, environment) {
  if (node?.type === 'Evaluated') return (node as Evaluated).value;
  if (node?.type !== 'FilterExpression') return evaluate.call(this, node, environment);
  const { operand, filter } = node as FilterNode;
  const value = this.evaluate(operand, environment);
  const own = filter.type === 'Identifier' && Object.hasOwn(filters, filter.value) ? filters[filter.value]?.(value) : undefined;
  if (own) return own;
  const evaluated: Evaluated = { type: 'Evaluated', value };
  const rest: FilterNode = { ...(node as FilterNode), operand: evaluated };
  return evaluate.call(this, rest, environment);
};
