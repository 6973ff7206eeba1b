import { type Expression, type Identifier, type Statement, walk } from '../jinja/nodes.ts';

/** The form in which a template reads `content`: text, or OpenAI's list of parts. */
export type ContentFormat = 'string' | 'openai';

type NodeOf<Type> = Extract<Exclude<Statement, never>, { type: Type }>;
const nodesOf = <Type extends Statement['type']>(root: unknown, type: Type): NodeOf<Type>[] =>
  [...walk(root)].filter((node): node is NodeOf<Type> => node.type === type);

const isVariable = (node: Expression, name: string): boolean => node.type === 'Identifier' && node.value === name;

const isMember = (node: Expression, name: string, key: string): boolean => {
  if (node.type !== 'MemberExpression' || !isVariable(node.object, name)) return false;
  const { property } = node;
  return property.type === (node.computed ? 'StringLiteral' : 'Identifier') && property.value === key;
};

// The variable, or its attribute `key`, can be filtered, tested or sliced.
const reads = (node: Expression, name: string, key?: string): boolean => {
  if (node.type === 'FilterExpression' || node.type === 'TestExpression') return reads(node.operand, name, key);
  if (node.type === 'MemberExpression' && node.property.type === 'SliceExpression') return reads(node.object, name, key);
  return key === undefined ? isVariable(node, name) : isMember(node, name, key);
};

// vLLM gives up, and takes `string`, if an assignment or loop that it follows has another target than one variable.
class NotOneVariable extends Error {}
const nameOf = (target: Expression): string => {
  if (target.type !== 'Identifier') throw new NotOneVariable();
  return target.value;
};

const messagesNames = (root: readonly Statement[]): string[] => {
  const names = ['messages'];
  const assignments = nodesOf(root, 'Set');
  for (const name of names)
    for (const { assignee, value } of assignments) {
      if (value && reads(value, name)) {
        const alias = nameOf(assignee);
        if (!names.includes(alias)) names.push(alias);
      }
    }
  return names;
};

interface Loop {
  node: NodeOf<'For'>;
  /** The expression over whose items it iterates. */
  items: Expression;
}

const loopsIn = (root: unknown): Loop[] =>
  nodesOf(root, 'For').map((node) => ({ node, items: node.iterable.type === 'SelectExpression' ? node.iterable.lhs : node.iterable }));

// In some call, these parameters get a message's content.
const contentParameters = (
  { name, args }: NodeOf<'Macro'>,
  root: readonly Statement[],
  isContent: (node: Expression) => boolean,
): Set<string> => {
  const parameters = args.map((parameter) => (parameter.type === 'Identifier' ? parameter.value : parameter.key.value));
  const calls = nodesOf(root, 'CallExpression').filter(({ callee }) => isVariable(callee, (name as Identifier).value));
  const found = calls.flatMap((call) =>
    call.args.flatMap((arg, index) => {
      if (arg.type === 'KeywordArgumentExpression') return isContent(arg.value) ? [arg.key.value] : [];
      return isContent(arg) ? [parameters[index] ?? ''] : [];
    }),
  );
  return new Set(found.filter((parameter) => parameters.includes(parameter)));
};

const findsContentLoop = (root: readonly Statement[]): boolean => {
  const names = messagesNames(root);
  const loops = loopsIn(root);
  const messages = loops.filter(({ items }) => names.some((name) => reads(items, name))).map(({ node }) => nameOf(node.loopvar));
  const isContent = (node: Expression): boolean => messages.some((name) => reads(node, name, 'content'));
  const macros = nodesOf(root, 'Macro').map((macro) => ({
    parameters: contentParameters(macro, root, isContent),
    loops: new Set(loopsIn(macro).map(({ node }) => node)),
  }));
  const isContentVariable = (node: NodeOf<'For'>, items: Expression): boolean => {
    if (items.type !== 'Identifier') return false;
    const around = macros.filter((macro) => macro.loops.has(node));
    // The innermost macro is the last one; a macro without such parameters counts for nothing.
    const parameters = around.findLast((macro) => macro.parameters.size > 0)?.parameters;
    return parameters?.has(items.value) || (around.length === 0 && items.value === 'content');
  };
  for (const { node, items } of loops) if (isContent(items) || isContentVariable(node, items)) return nameOf(node.loopvar) !== '';
  return false;
};

/**
 * Detects how a template reads `content`, as vLLM does (vllm/renderers/hf.py, 0.32): a template that loops over a
 * message's content gets parts.
 * @param root the parsed template
 */
export const detectContentFormat = (root: readonly Statement[]): ContentFormat => {
  try {
    return findsContentLoop(root) ? 'openai' : 'string';
  } catch (error) {
    if (error instanceof NotOneVariable) return 'string';
    throw error;
  }
};
