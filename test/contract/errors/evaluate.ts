import ts from 'typescript';
import { declarationOf } from './sources.ts';

/** The texts that an expression can be, with `{name}` for what is known only when it runs; or an object of values. */
export type Value = readonly string[] | { readonly [property: string]: Value };
/** The values of parameters, by their declarations. */
export type Environment = ReadonlyMap<ts.Node, Value>;

const MAX_TEXTS = 200;
const MAX_DEPTH = 12;
// Stands for undefined among texts.
const ABSENT = '\0';

export const isTexts = (value: Value | undefined): value is readonly string[] => Array.isArray(value);
const isKnown = (text: string): boolean => !/^\{[\w-]+\}$/.test(text);
const unique = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, MAX_TEXTS);

// Nobody means to print undefined, so a text with it can't be.
export const printable = (texts: readonly string[]): readonly string[] => texts.filter((text) => text !== ABSENT);

const joined = (left: readonly string[], right: readonly string[]): string[] =>
  unique(printable(left).flatMap((a) => printable(right).map((b) => a + b)));

const GLOBALS = new Set(['Math', 'String', 'Number', 'Object']);

const labelOf = (node: ts.Node): string => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node)) return node.name.text.replace('#', '');
  if (ts.isCallExpression(node)) {
    const literal = node.arguments.find(ts.isStringLiteral)?.text ?? '';
    if (/^[\w-]+$/.test(literal)) return literal;
    const { expression } = node;
    const isMethod = ts.isPropertyAccessExpression(expression) && !GLOBALS.has(expression.expression.getText());
    if (isMethod) return labelOf(expression.expression);
    return node.arguments[0] ? labelOf(node.arguments[0]) : labelOf(expression);
  }
  if (ts.isNewExpression(node)) return labelOf(node.expression).toLowerCase();
  if (ts.isRegularExpressionLiteral(node)) return 'place';
  if (ts.isElementAccessExpression(node))
    return ts.isStringLiteral(node.argumentExpression) ? node.argumentExpression.text : labelOf(node.expression);
  if (ts.isBinaryExpression(node)) return labelOf(node.left);
  if (ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return labelOf(node.expression);
  return 'value';
};

const unknown = (node: ts.Node): string[] => [`{${labelOf(node)}}`];

const bind = (name: ts.BindingName, value: Value | undefined, environment: Map<ts.Node, Value>): void => {
  if (ts.isIdentifier(name)) {
    if (value) environment.set(name.parent, value);
    return;
  }
  for (const element of name.elements) {
    if (!ts.isBindingElement(element)) continue;
    const property = element.propertyName ?? element.name;
    if (!value || isTexts(value) || !ts.isIdentifier(property)) bind(element.name, undefined, environment);
    else
      bind(
        element.name,
        value[property.text] ?? (element.initializer ? evaluate(element.initializer, environment) : [ABSENT]),
        environment,
      );
  }
};

/** The arguments of a call, once for each combination of what they can be. */
export const combinationsOf = (given: readonly (Value | undefined)[]): (Value | undefined)[][] =>
  given
    .reduce<(Value | undefined)[][]>(
      (combinations, value) =>
        combinations.flatMap((before) => (isTexts(value) ? value.map((text) => [...before, [text]]) : [[...before, value]])),
      [[]],
    )
    .slice(0, MAX_TEXTS);

/** The environment of a call. */
export const bindParameters = (
  { parameters }: ts.SignatureDeclarationBase,
  given: readonly (Value | undefined)[],
  outer: Environment,
): Map<ts.Node, Value> => {
  const environment = new Map(outer);
  for (const [i, { name, initializer }] of parameters.entries())
    bind(name, given[i] ?? (initializer ? evaluate(initializer, environment) : undefined), environment);
  return environment;
};

const returnsOf = (body: ts.ConciseBody, environment: Environment, depth: number): Value[] => {
  if (!ts.isBlock(body)) return [evaluate(body, environment, depth)];
  const values: Value[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isReturnStatement(node) && node.expression) values.push(evaluate(node.expression, environment, depth));
    ts.forEachChild(node, visit);
  };
  visit(body);
  return values;
};

const merged = (values: readonly Value[]): Value | undefined => {
  if (values.length === 1) return values[0];
  const texts = values.filter(isTexts).flat();
  if (texts.length > 0) return unique(texts);
  const objects = values.filter((value) => !isTexts(value)) as { [property: string]: Value }[];
  if (objects.length === 0) return undefined;
  const properties = new Set(objects.flatMap(Object.keys));
  return Object.fromEntries(
    [...properties].map((name) => [name, merged(objects.map((object) => object[name]).filter((value) => value !== undefined)) ?? []]),
  );
};

/** The function that a declaration has, if it is one. */
export const functionOf = (declaration: ts.Node | undefined): ts.ArrowFunction | ts.FunctionExpression | undefined => {
  const initializer = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
  return initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)) ? initializer : undefined;
};

const METHODS: Readonly<Record<string, (text: string, ...given: string[]) => string>> = {
  slice: (text) => text,
  trim: (text) => text.trim(),
  toLowerCase: (text) => text.toLowerCase(),
  replaceAll: (text, from = '', to = '') => text.replaceAll(from, to),
};

const ofText = (node: ts.CallExpression, environment: Environment, depth: number): Value | undefined => {
  if (!ts.isPropertyAccessExpression(node.expression)) return undefined;
  const method = Object.hasOwn(METHODS, node.expression.name.text) ? METHODS[node.expression.name.text] : undefined;
  if (!method) return undefined;
  const texts = evaluate(node.expression.expression, environment, depth + 1);
  const given = node.arguments
    .map((argument) => evaluate(argument, environment, depth + 1))
    .map((value) => (isTexts(value) ? value[0] : undefined));
  if (!isTexts(texts) || !texts.every((text) => text !== ABSENT)) return undefined;
  return texts.map((text) => (isKnown(text) ? method(text, ...given.map((one) => one ?? '')) : text));
};

// A function counts only if it returns a phrase: what computes a name or a number is a value of its own.
const called = (node: ts.CallExpression, environment: Environment, depth: number): Value => {
  const text = ofText(node, environment, depth);
  if (text) return text;
  const callee = ts.isIdentifier(node.expression) ? functionOf(declarationOf(node.expression.text, node)) : undefined;
  if (!callee) return unknown(node);
  const given = node.arguments.map((argument) => evaluate(argument, environment, depth + 1));
  const value = merged(returnsOf(callee.body, bindParameters(callee, given, environment), depth + 1));
  if (!value) return unknown(node);
  return !isTexts(value) || value.some((text) => text.includes(' ')) ? value : unknown(node);
};

const NUMBER: Readonly<Partial<Record<ts.SyntaxKind, (a: number, b: number) => number>>> = {
  [ts.SyntaxKind.SlashToken]: (a, b) => a / b,
  [ts.SyntaxKind.AsteriskToken]: (a, b) => a * b,
  [ts.SyntaxKind.MinusToken]: (a, b) => a - b,
};

const binary = (node: ts.BinaryExpression, environment: Environment, depth: number): Value => {
  const left = evaluate(node.left, environment, depth + 1);
  const right = evaluate(node.right, environment, depth + 1);
  const { kind } = node.operatorToken;
  if (!isTexts(left) || !isTexts(right)) return isTexts(left) ? right : left;
  if (kind === ts.SyntaxKind.PlusToken) return joined(left, right);
  if (kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.BarBarToken)
    return unique(
      left.flatMap((text) => {
        if (text === ABSENT || text === '') return right;
        // A number in place of one that is known only when it runs says nothing.
        if (!isKnown(text) && right.every((other) => other !== '' && !Number.isNaN(Number(other)))) return [text];
        return isKnown(text) || right.every((other) => !isKnown(other)) ? [text] : [text, ...right];
      }),
    );
  if (kind === ts.SyntaxKind.AmpersandAmpersandToken)
    return unique(left.flatMap((text) => (text === ABSENT || text === '' ? [text] : isKnown(text) ? right : ['', ...right])));
  const [a = Number.NaN, b = Number.NaN] = [Number(left[0]), Number(right[0])];
  const result = NUMBER[kind]?.(a, b) ?? Number.NaN;
  return Number.isNaN(result) ? unknown(node) : [String(result)];
};

const named = (node: ts.Identifier, environment: Environment, depth: number): Value => {
  if (node.text === 'undefined') return [ABSENT];
  const declaration = declarationOf(node.text, node);
  if (!declaration) return unknown(node);
  const given = environment.get(declaration);
  if (given) return given;
  // The value of a variable can have changed between its declaration and the message.
  if (ts.isVariableDeclaration(declaration) && (declaration.parent.flags & ts.NodeFlags.Let) !== 0) return unknown(node);
  if (ts.isVariableDeclaration(declaration) && declaration.initializer) {
    const value = evaluate(declaration.initializer, environment, depth + 1);
    // The constant that keeps the result of a call names it best.
    return ts.isCallExpression(declaration.initializer) && isTexts(value) && !value.some(isKnown) ? unknown(node) : value;
  }
  if (ts.isBindingElement(declaration)) {
    const { parent } = declaration.parent;
    const property = declaration.propertyName ?? declaration.name;
    if (ts.isVariableDeclaration(parent) && parent.initializer && ts.isIdentifier(property)) {
      const whole = evaluate(parent.initializer, environment, depth + 1);
      if (!isTexts(whole))
        return whole[property.text] ?? (declaration.initializer ? evaluate(declaration.initializer, environment, depth + 1) : [ABSENT]);
    }
  }
  return unknown(node);
};

const object = (node: ts.ObjectLiteralExpression, environment: Environment, depth: number): Value => {
  const values: Record<string, Value> = {};
  for (const property of node.properties) {
    if (ts.isPropertyAssignment(property) && !ts.isComputedPropertyName(property.name))
      values[property.name.text] = evaluate(property.initializer, environment, depth + 1);
    if (ts.isShorthandPropertyAssignment(property)) values[property.name.text] = named(property.name, environment, depth + 1);
    if (ts.isSpreadAssignment(property)) {
      const spread = evaluate(property.expression, environment, depth + 1);
      if (!isTexts(spread)) Object.assign(values, spread);
    }
  }
  return values;
};

/** Returns every text that an expression can be. Runs nothing. */
export const evaluate = (node: ts.Expression, environment: Environment, depth = 0): Value => {
  const inner = (part: ts.Expression): Value => evaluate(part, environment, depth + 1);
  if (depth > MAX_DEPTH) return unknown(node);
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isNumericLiteral(node)) return [String(Number(node.text))];
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce<string[]>(
      (texts, { expression, literal }) => {
        const value = inner(expression);
        return joined(joined(texts, isTexts(value) ? value : unknown(expression)), [literal.text]);
      },
      [node.head.text],
    );
  if (ts.isConditionalExpression(node)) return merged([inner(node.whenTrue), inner(node.whenFalse)]) ?? unknown(node);
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isNonNullExpression(node))
    return inner(node.expression);
  if (ts.isBinaryExpression(node)) return binary(node, environment, depth);
  if (ts.isIdentifier(node)) return named(node, environment, depth);
  if (ts.isObjectLiteralExpression(node)) return object(node, environment, depth);
  if (node.kind === ts.SyntaxKind.NullKeyword) return ['null'];
  if (ts.isPropertyAccessExpression(node)) {
    const whole = inner(node.expression);
    return isTexts(whole) ? unknown(node) : (whole[node.name.text] ?? [ABSENT]);
  }
  if (ts.isElementAccessExpression(node)) {
    const whole = inner(node.expression);
    if (isTexts(whole)) return unknown(node);
    const keys = inner(node.argumentExpression);
    const chosen = isTexts(keys) ? keys.map((key) => (Object.hasOwn(whole, key) ? whole[key] : undefined)) : [];
    const values = chosen.length > 0 && chosen.every((value) => value !== undefined) ? chosen : Object.values(whole);
    return merged(values.filter((value) => value !== undefined)) ?? unknown(node);
  }
  if (ts.isCallExpression(node)) return called(node, environment, depth);
  return unknown(node);
};
