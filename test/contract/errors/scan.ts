import ts from 'typescript';
import { bindParameters, combinationsOf, type Environment, evaluate, functionOf, isTexts, printable, type Value } from './evaluate.ts';
import { declarationOf, sources, walk } from './sources.ts';

/** An error as callers can get it. `{name}` in a message is known only when it is thrown. */
export interface ErrorText {
  status: number;
  /** null: the status says enough. */
  code: string | null;
  message: string;
  /** The file of its class; of a general class, the file that throws it. */
  file: string;
}

const BASE = 'ApiError';
const GENERAL = new Set([BASE, 'InvalidRequest', 'InvalidValue', 'ResourceNotFound', 'Forbidden', 'Conflict']);
const MAX_CALLERS = 3;

const baseOf = (declaration: ts.ClassDeclaration): ts.Node | undefined => {
  const type = declaration.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
  return type && ts.isIdentifier(type.expression) ? declarationOf(type.expression.text, declaration) : undefined;
};

const isApiError = (node: ts.Node | undefined): node is ts.ClassDeclaration =>
  node !== undefined && ts.isClassDeclaration(node) && (node.name?.text === BASE || isApiError(baseOf(node)));

const factsOf = (declaration: ts.ClassDeclaration, given: readonly (Value | undefined)[], outer: Environment): Value | undefined => {
  if (declaration.name?.text === BASE) return given[0];
  const base = baseOf(declaration);
  if (!isApiError(base)) return undefined;
  const constructed = declaration.members.find(ts.isConstructorDeclaration);
  if (!constructed) return factsOf(base, given, outer);
  const environment = bindParameters(constructed, given, outer);
  let facts: Value | undefined;
  walk(constructed, (node) => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword)
      facts = factsOf(
        base,
        node.arguments.map((argument) => evaluate(argument, environment)),
        environment,
      );
  });
  return facts;
};

const calls = new Map<ts.Node, ts.CallExpression[]>();
for (const file of sources.values())
  walk(file, (node) => {
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
    const declaration = declarationOf(node.expression.text, node);
    if (declaration) calls.set(declaration, [...(calls.get(declaration) ?? []), node]);
  });

// One for each call of the function that has the expression.
const environmentsOf = (node: ts.Node, depth = 0): Environment[] => {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (!ts.isArrowFunction(outer) || !ts.isVariableDeclaration(outer.parent) || functionOf(outer.parent) !== outer) continue;
    const callers = calls.get(outer.parent) ?? [];
    if (callers.length === 0 || depth === MAX_CALLERS) break;
    const callee = outer;
    return callers.flatMap((call) =>
      environmentsOf(call, depth + 1).flatMap((environment) =>
        combinationsOf(call.arguments.map((argument) => evaluate(argument, environment))).map((given) =>
          bindParameters(callee, given, environment),
        ),
      ),
    );
  }
  return [new Map()];
};

const textsOf = (facts: Value | undefined, file: string): ErrorText[] => {
  if (!facts || isTexts(facts)) return [];
  const { status, code, message } = facts;
  if (!isTexts(status) || !isTexts(message) || Number.isNaN(Number(status[0]))) return [];
  const codes = isTexts(code) ? code : ['null'];
  return printable(message).flatMap((text) =>
    codes.map((name) => ({ status: Number(status[0]), code: name === 'null' ? null : name, message: text, file })),
  );
};

/** Every error that the deployed sources can send, with each of its messages. */
export const errorTexts = (): ErrorText[] => {
  const found = new Map<string, ErrorText>();
  for (const [file, source] of sources)
    walk(source, (node) => {
      if (!ts.isNewExpression(node) || !ts.isIdentifier(node.expression)) return;
      const declaration = declarationOf(node.expression.text, node);
      if (!isApiError(declaration)) return;
      const place = GENERAL.has(node.expression.text) ? file : declaration.getSourceFile().fileName;
      for (const environment of environmentsOf(node)) {
        for (const given of combinationsOf((node.arguments ?? []).map((argument) => evaluate(argument, environment))))
          for (const text of textsOf(factsOf(declaration, given, environment), place))
            found.set(`${text.status} ${text.code} ${text.message}`, text);
      }
    });
  return [...found.values()];
};
