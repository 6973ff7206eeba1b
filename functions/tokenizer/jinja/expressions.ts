import { getAttribute, getItem, getSlice, UNSUPPORTED_METHODS } from './attributes.ts';
import { filters, UNSUPPORTED_FILTERS } from './filters.ts';
import type { Binary, CallNode, Expression, Identifier, Member } from './nodes.ts';
import { operators, sign } from './operators.ts';
import type { TemplateScope } from './scope.ts';
import type { Filter } from './sequence-filters.ts';
import { tests } from './tests.ts';
import { spendOnValue } from './value-budget.ts';
import { type Arguments, type Dict, isTrue, iterate, Tuple, type Value } from './values.ts';

/** Evaluates an expression with the variables of a scope. */
export type Evaluate = (scope: TemplateScope) => Value;

const CONSTANTS = new Map<string, Value>([
  ...(['true', 'True'] as const).map((name) => [name, true] as const),
  ...(['false', 'False'] as const).map((name) => [name, false] as const),
  ...(['none', 'None'] as const).map((name) => [name, null] as const),
]);

const compileIdentifier = ({ value: name }: Identifier): Evaluate => {
  if (!CONSTANTS.has(name)) return (scope) => scope.get(name);
  const constant = CONSTANTS.get(name);
  return () => constant;
};

const compileDict = (entries: ReadonlyMap<Expression, Expression>): Evaluate => {
  const compiled = [...entries].map(([key, value]) => [compile(key), compile(value)] as const);
  return (scope) => {
    const dict: Dict = new Map();
    for (const [key, value] of compiled) dict.set(key(scope), value(scope));
    return dict;
  };
};

/** Compiles the arguments of a call; `*items` and `**dictionary` are spread. */
export const compileArguments = (args: readonly Expression[]): ((scope: TemplateScope) => Arguments) => {
  const steps = args.map((arg) => {
    if (arg.type === 'KeywordArgumentExpression') {
      const value = compile(arg.value);
      const name = arg.key.value;
      return (scope: TemplateScope, _: Value[], named: Map<string, Value>) => void named.set(name, value(scope));
    }
    if (arg.type === 'SpreadExpression') {
      const items = compile(arg.argument);
      return (scope: TemplateScope, positional: Value[]) => void positional.push(...iterate(items(scope)));
    }
    if (arg.type === 'KeywordSpreadExpression') {
      const entries = compile(arg.argument);
      return (scope: TemplateScope, _: Value[], named: Map<string, Value>) => {
        const dict = entries(scope);
        if (!(dict instanceof Map)) throw new Error('The argument after ** must be a mapping.');
        for (const [name, value] of dict) named.set(String(name), value);
      };
    }
    const value = compile(arg);
    return (scope: TemplateScope, positional: Value[]) => void positional.push(value(scope));
  });
  return (scope) => {
    const positional: Value[] = [];
    const named = new Map<string, Value>();
    for (const step of steps) step(scope, positional, named);
    return { positional, named };
  };
};

const nameOf = (node: Expression): string =>
  node.type === 'Identifier' ? node.value : node.type === 'MemberExpression' ? nameOf(node.property) : '?';

const compileCall = ({ callee, args }: CallNode): Evaluate => {
  const name = nameOf(callee);
  if (callee.type === 'MemberExpression' && !callee.computed && UNSUPPORTED_METHODS.has(name))
    throw new Error(`The method '${name}' is not supported.`);
  const evaluateCallee = compile(callee);
  const evaluateArguments = compileArguments(args);
  return (scope) => {
    const called = evaluateCallee(scope);
    if (typeof called !== 'function') throw new Error(`'${name}' is ${called === undefined ? 'undefined' : 'not a function'}.`);
    return called(evaluateArguments(scope));
  };
};

const compileMember = ({ object, property, computed }: Member): Evaluate => {
  const evaluateObject = compile(object);
  if (property.type === 'SliceExpression') {
    const bounds = [property.start, property.stop, property.step].map((bound) => (bound ? compile(bound) : () => undefined));
    return (scope) =>
      getSlice(
        evaluateObject(scope),
        bounds.map((bound) => bound(scope)),
      );
  }
  if (!computed && property.type === 'Identifier') {
    const name = property.value;
    return (scope) => getAttribute(evaluateObject(scope), name);
  }
  const key = compile(property);
  return (scope) => getItem(evaluateObject(scope), key(scope));
};

// The library reads `a + b ~ c` as `(a + b) ~ c` and Jinja as `a + (b ~ c)`. Whenever both can be evaluated, they are
// equal.
const compileConcatenation = ({ left, right }: Binary): Evaluate => {
  const concatenate = operators['~'] as NonNullable<(typeof operators)[string]>;
  const evaluateRight = compile(right);
  if (left.type !== 'BinaryExpression' || left.operator.value !== '+') {
    const evaluateLeft = compile(left);
    return (scope) => concatenate(evaluateLeft(scope), evaluateRight(scope));
  }
  const [first, second] = [compile(left.left), compile(left.right)];
  const add = operators['+'] as NonNullable<(typeof operators)[string]>;
  return (scope) => {
    const [a, b] = [first(scope), second(scope)];
    const c = evaluateRight(scope);
    return typeof a === 'string' ? add(a, concatenate(b, c)) : concatenate(add(a, b), c);
  };
};

const compileBinary = (node: Binary): Evaluate => {
  const { operator, left, right } = node;
  if (operator.value === '~') return compileConcatenation(node);
  const [evaluateLeft, evaluateRight] = [compile(left), compile(right)];
  if (operator.value === 'and' || operator.value === 'or') {
    const goesOn = operator.value === 'and';
    return (scope) => {
      const value = evaluateLeft(scope);
      return isTrue(value) === goesOn ? evaluateRight(scope) : value;
    };
  }
  const operate = operators[operator.value];
  if (!operate) throw new Error(`The operator '${operator.value}' is not supported.`);
  return (scope) => operate(evaluateLeft(scope), evaluateRight(scope));
};

// A filter that Jinja doesn't have either fails only when it is applied, as in Jinja. One that only Jinja has throws
// now.
const filterOf = (name: string): Filter => {
  if (UNSUPPORTED_FILTERS.has(name)) throw new Error(`The filter '${name}' is not supported.`);
  const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
  const fail = (): never => {
    throw new Error(`No filter named '${name}' found.`);
  };
  return filter ?? fail;
};
const callFilter = (name: string, value: Value, args: Arguments): Value => {
  spendOnValue(value);
  return filterOf(name)(value, args, callFilter);
};

/** Compiles a filter with its arguments. */
export const compileFilter = (node: Identifier | CallNode): ((value: Value, scope: TemplateScope) => Value) => {
  const name = node.type === 'Identifier' ? node.value : nameOf(node.callee);
  const filter = filterOf(name);
  const args = node.type === 'Identifier' ? [] : node.args;
  const [first] = args;
  if (name === 'map' && first?.type === 'StringLiteral') filterOf(first.value);
  const evaluateArguments = compileArguments(args);
  return (value, scope) => filter(value, evaluateArguments(scope), callFilter);
};

/** Compiles an expression. @throws Error for a construct that can't be evaluated as Jinja does */
export const compile = (node: Expression): Evaluate => {
  const evaluate = compileNode(node);
  return (scope) => {
    const value = evaluate(scope);
    spendOnValue(value);
    return value;
  };
};

const compileNode = (node: Expression): Evaluate => {
  switch (node.type) {
    case 'IntegerLiteral': {
      const value = BigInt(node.value);
      return () => value;
    }
    case 'FloatLiteral':
    case 'StringLiteral':
      return () => node.value;
    case 'ArrayLiteral':
    case 'TupleLiteral': {
      const items = node.value.map(compile);
      return (scope) => {
        const values = items.map((item) => item(scope));
        return node.type === 'TupleLiteral' ? new Tuple(values) : values;
      };
    }
    case 'ObjectLiteral':
      return compileDict(node.value);
    case 'Identifier':
      return compileIdentifier(node);
    case 'CallExpression':
      return compileCall(node);
    case 'MemberExpression':
      return compileMember(node);
    case 'BinaryExpression':
      return compileBinary(node);
    case 'UnaryExpression': {
      const argument = compile(node.argument);
      const operator = node.operator.value;
      return operator === 'not' ? (scope) => !isTrue(argument(scope)) : (scope) => sign(operator, argument(scope));
    }
    case 'FilterExpression': {
      const operand = compile(node.operand);
      const filter = compileFilter(node.filter);
      return (scope) => filter(operand(scope), scope);
    }
    case 'TestExpression': {
      const operand = compile(node.operand);
      const name = node.test.value;
      const test = Object.hasOwn(tests, name) ? tests[name] : undefined;
      if (!test) throw new Error(`The test '${name}' is not supported.`);
      return (scope) => test(operand(scope)) !== node.negate;
    }
    case 'Ternary':
    case 'SelectExpression': {
      const [test, then] =
        node.type === 'Ternary' ? [compile(node.condition), compile(node.trueExpr)] : [compile(node.test), compile(node.lhs)];
      const otherwise = node.type === 'Ternary' ? compile(node.falseExpr) : () => undefined;
      return (scope) => (isTrue(test(scope)) ? then(scope) : otherwise(scope));
    }
    default:
      throw new Error(`A ${node.type} is not supported here.`);
  }
};
