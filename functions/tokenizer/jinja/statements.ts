import { spend, spendOnText } from './budget.ts';
import { compile, compileArguments, compileFilter, type Evaluate } from './expressions.ts';
import { compileMacro } from './macros.ts';
import type { CallStatement, Expression, For, SetStatement, Statement } from './nodes.ts';
import { print } from './print.ts';
import { TemplateScope } from './scope.ts';
import { isTrue, iterate, Namespace, type Value } from './values.ts';

// The reason why a block ended early.
type Jump = 'break' | 'continue';

// Runs a statement: adds its text to the output.
type Execute = (scope: TemplateScope, output: string[]) => Jump | undefined;

// Assigns a value to a variable, or its items to several.
type Assign = (scope: TemplateScope, value: Value) => void;

const compileBlock = (body: readonly Statement[]): Execute => {
  const statements = body.filter(({ type }) => type !== 'Comment').map(compileStatement);
  return (scope, output) => {
    for (const execute of statements) {
      spend(1);
      const jump = execute(scope, output);
      if (jump) return jump;
    }
    return undefined;
  };
};

// A block that is rendered to text has a scope of its own.
const compileText = (body: readonly Statement[]): ((scope: TemplateScope) => string) => {
  const execute = compileBlock(body);
  return (scope) => {
    const output: string[] = [];
    execute(new TemplateScope(scope), output);
    return output.join('');
  };
};

const compileTarget = (target: Expression): Assign => {
  if (target.type === 'Identifier') return (scope, value) => scope.set(target.value, value);
  if (target.type === 'TupleLiteral') {
    const targets = target.value.map(compileTarget);
    return (scope, value) => {
      const items = iterate(value);
      if (items.length !== targets.length) throw new Error(`Expected ${targets.length} values to unpack, got ${items.length}.`);
      for (const [index, assign] of targets.entries()) assign(scope, items[index]);
    };
  }
  if (target.type !== 'MemberExpression' || target.computed || target.property.type !== 'Identifier')
    throw new Error('Only variables and attributes of namespaces can be set.');
  const object = compile(target.object);
  const name = target.property.value;
  return (scope, value) => {
    const namespace = object(scope);
    if (!(namespace instanceof Namespace)) throw new Error('cannot assign attribute on non-namespace object');
    namespace.attributes.set(name, value);
  };
};

const compileSet = ({ assignee, value, body }: SetStatement): Execute => {
  const assign = compileTarget(assignee);
  const evaluate: Evaluate = value ? compile(value) : compileText(body);
  return (scope) => {
    assign(scope, evaluate(scope));
    return undefined;
  };
};

// The variable `loop` of one iteration.
const loopOf = (items: readonly Value[], index: number, depth: bigint): Namespace => {
  const { length } = items;
  return new Namespace([
    ['index', BigInt(index + 1)],
    ['index0', BigInt(index)],
    ['revindex', BigInt(length - index)],
    ['revindex0', BigInt(length - index - 1)],
    ['first', index === 0],
    ['last', index === length - 1],
    ['length', BigInt(length)],
    ['previtem', items[index - 1]],
    ['nextitem', items[index + 1]],
    ['depth', depth],
    ['depth0', depth - 1n],
  ]);
};

const compileFor = ({ loopvar, iterable, body, defaultBlock }: For): Execute => {
  const assign = compileTarget(loopvar);
  const isFiltered = iterable.type === 'SelectExpression';
  const evaluateItems = compile(isFiltered ? iterable.lhs : iterable);
  const test = isFiltered ? compile(iterable.test) : undefined;
  const [execute, otherwise] = [compileBlock(body), compileBlock(defaultBlock)];
  const passes = (scope: TemplateScope, item: Value): boolean => {
    if (!test) return true;
    spend(1);
    const inner = new TemplateScope(scope);
    assign(inner, item);
    return isTrue(test(inner));
  };
  return (scope, output) => {
    const items = iterate(evaluateItems(scope)).filter((item) => passes(scope, item));
    // For Jinja's `else`, an iteration counts unless `break` or `continue` has ended it.
    let counted = 0;
    for (const [index, item] of items.entries()) {
      spend(1);
      const inner = new TemplateScope(scope);
      inner.set('loop', loopOf(items, index, 1n));
      assign(inner, item);
      const jump = execute(inner, output);
      if (!jump) counted++;
      if (jump === 'break') break;
    }
    return counted === 0 ? otherwise(new TemplateScope(scope), output) : undefined;
  };
};

const compileCall = ({ call, callerArgs, body }: CallStatement): Execute => {
  const callee = compile(call.callee);
  const evaluateArguments = compileArguments(call.args);
  const caller = compileMacro(callerArgs ?? [], body, compileText(body));
  return (scope, output) => {
    const called = callee(scope);
    if (typeof called !== 'function') throw new Error('The macro of a call block is not defined.');
    const { positional, named } = evaluateArguments(scope);
    output.push(print(called({ positional, named: new Map([...named, ['caller', caller(scope)]]) })));
    return undefined;
  };
};

const compileStatement = (node: Statement): Execute => {
  switch (node.type) {
    case 'Set':
      return compileSet(node);
    case 'For':
      return compileFor(node);
    case 'CallStatement':
      return compileCall(node);
    case 'If': {
      const [test, then, otherwise] = [compile(node.test), compileBlock(node.body), compileBlock(node.alternate)];
      return (scope, output) => (isTrue(test(scope)) ? then : otherwise)(scope, output);
    }
    case 'Macro': {
      const macro = compileMacro(node.args, node.body, compileText(node.body));
      return (scope) => void scope.set(node.name.value, macro(scope));
    }
    case 'FilterStatement': {
      const [text, filter] = [compileText(node.body), compileFilter(node.filter)];
      return (scope, output) => void output.push(print(filter(text(scope), scope)));
    }
    case 'Break':
      return () => 'break';
    case 'Continue':
      return () => 'continue';
    case 'StringLiteral':
      return (_, output) => {
        spendOnText(node.value.length);
        output.push(node.value);
        return undefined;
      };
    case 'Comment':
      return () => undefined;
    default: {
      const evaluate = compile(node);
      return (scope, output) => void output.push(print(evaluate(scope)));
    }
  }
};

/** Compiles a template's statements. @throws Error for a construct that can't be rendered as Jinja does */
export const compileTemplate = (body: readonly Statement[]): ((scope: TemplateScope) => string) => compileText(body);
