import { parse, tokenize } from '@huggingface/jinja';
import { type SourcePiece, splitSource } from './source.ts';

interface Node<Type extends string> {
  type: Type;
}

type Literal =
  | (Node<'IntegerLiteral' | 'FloatLiteral'> & { value: number })
  | (Node<'StringLiteral'> & { value: string })
  | (Node<'ArrayLiteral' | 'TupleLiteral'> & { value: Expression[] })
  | (Node<'ObjectLiteral'> & { value: Map<Expression, Expression> });

export type Identifier = Node<'Identifier'> & { value: string };
export type NamedArgument = Node<'KeywordArgumentExpression'> & { key: Identifier; value: Expression };
type Spread = Node<'SpreadExpression' | 'KeywordSpreadExpression'> & { argument: Expression };
export type CallNode = Node<'CallExpression'> & { callee: Expression; args: Expression[] };
export type Slice = Node<'SliceExpression'> & { start?: Expression; stop?: Expression; step?: Expression };
export type Member = Node<'MemberExpression'> & { object: Expression; property: Expression; computed: boolean };
export type Binary = Node<'BinaryExpression'> & { operator: { value: string }; left: Expression; right: Expression };
/** `lhs if test`, also after `in` of a loop. */
export type Select = Node<'SelectExpression'> & { lhs: Expression; test: Expression };

/** An expression of a template. */
export type Expression =
  | Literal
  | Identifier
  | NamedArgument
  | Spread
  | CallNode
  | Slice
  | Member
  | Binary
  | Select
  | (Node<'FilterExpression'> & { operand: Expression; filter: Identifier | CallNode })
  | (Node<'TestExpression'> & { operand: Expression; negate: boolean; test: Identifier })
  | (Node<'UnaryExpression'> & { operator: { value: string }; argument: Expression })
  | (Node<'Ternary'> & { condition: Expression; trueExpr: Expression; falseExpr: Expression });

export type Parameter = Identifier | NamedArgument;
export type For = Node<'For'> & { loopvar: Expression; iterable: Expression; body: Statement[]; defaultBlock: Statement[] };
export type Macro = Node<'Macro'> & { name: Identifier; args: Parameter[]; body: Statement[] };
export type CallStatement = Node<'CallStatement'> & { call: CallNode; callerArgs: Parameter[] | null; body: Statement[] };
export type SetStatement = Node<'Set'> & { assignee: Expression; value: Expression | null; body: Statement[] };

/** A statement of a template; an expression prints its value. */
export type Statement =
  | Expression
  | For
  | Macro
  | CallStatement
  | SetStatement
  | (Node<'If'> & { test: Expression; body: Statement[]; alternate: Statement[] })
  | (Node<'FilterStatement'> & { filter: Identifier | CallNode; body: Statement[] })
  | Node<'Break' | 'Continue' | 'Comment'>;

export type AnyNode = Statement | (Node<'Program'> & { body: Statement[] });

interface Token {
  type: string;
  value: string;
}

const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=', 'in']);
// The tokens that end an expression which may be compared.
const ENDS = new Set(['and', 'or', 'not', 'if', 'else', ',', ':', '=']);
const OPENING = '([{';
const CLOSING = ')]}';

// Python reads `a < b < c` as `a < b and b < c`; the library reads it as `(a < b) < c`.
const rejectChains = (tokens: readonly Token[]): void => {
  const compared = [false];
  for (const [at, { type, value }] of tokens.entries()) {
    const top = compared.length - 1;
    if (type === 'StringLiteral' || at === 0 || at === tokens.length - 1 || (value === 'not' && tokens[at + 1]?.value === 'in')) continue;
    if (OPENING.includes(value)) compared.push(false);
    else if (CLOSING.includes(value)) compared.pop();
    else if (COMPARISONS.has(value)) {
      if (compared[top]) throw new Error(`Chained comparisons like 'a < b < c' are not supported. Join them with 'and'.`);
      compared[top] = true;
    } else if (ENDS.has(value)) compared[top] = false;
  }
};

const BEGINNINGS = new Set(['NumericLiteral', 'StringLiteral', 'OpenParen', 'OpenSquareBracket', 'OpenCurlyBracket']);
const CONTINUATIONS = new Set(['and', 'or', 'not', 'if', 'else', 'in', 'is']);

// The library knows no arguments of tests. In a list or a call, it reads them as further items.
const rejectTestArguments = (tokens: readonly Token[]): void => {
  for (const [at, { type, value }] of tokens.entries()) {
    if (type !== 'Identifier' || value !== 'is' || tokens[at - 1]?.type === 'Dot') continue;
    const name = at + (tokens[at + 1]?.value === 'not' ? 2 : 1);
    const next = tokens[name + 1];
    if (BEGINNINGS.has(next?.type ?? '') || (next?.type === 'Identifier' && !CONTINUATIONS.has(next.value)))
      throw new Error(`The test '${tokens[name]?.value}' can have no argument here. Use an operator, such as ==, or the filter 'select'.`);
  }
};

const read = {
  tokenize: tokenize as unknown as (tag: string) => Token[],
  parse: parse as unknown as (tokens: Token[]) => { body: Statement[] },
};

const tokensOf = (piece: SourcePiece): Token[] => {
  if ('text' in piece) return [{ type: 'Text', value: piece.text }];
  try {
    const tokens = read.tokenize(piece.isOutput ? `{{ ${piece.code} }}` : `{% ${piece.code} %}`);
    rejectChains(tokens);
    rejectTestArguments(tokens);
    return tokens;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)} in '${piece.code.trim().slice(0, 80)}'`);
  }
};

/**
 * Parses a template. The library reads the tags; texts between them are split as Jinja does.
 * @throws Error for a syntax that the library can't read
 */
export const parseTemplate = (source: string): Statement[] => read.parse(splitSource(source).flatMap(tokensOf)).body;

const isNode = (value: unknown): value is AnyNode => typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  return isNode(value) ? Object.values(value) : [];
};

/** All nodes of a tree, parents before their children, in the order of the template. */
export function* walk(root: unknown): Generator<AnyNode> {
  if (isNode(root)) yield root;
  for (const child of childrenOf(root)) if (typeof child === 'object') yield* walk(child);
}
