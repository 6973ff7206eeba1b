import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export const root = path.join(import.meta.dirname, '../../..');

const load = (file: string): ts.SourceFile =>
  ts.createSourceFile(path.relative(root, file), readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);

/** The deployed sources, parsed, by their path in the project. */
export const sources: ReadonlyMap<string, ts.SourceFile> = new Map(
  globSync('{functions,shared}/**/*.ts', { cwd: root }).map((file) => [file, load(path.join(root, file))]),
);

/** Calls `visit` with a node and all nodes below it. */
export const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
};

const bindingIn = (name: ts.BindingName, wanted: string): ts.Node | undefined => {
  if (ts.isIdentifier(name)) return name.text === wanted ? name.parent : undefined;
  for (const element of name.elements) {
    const found = ts.isBindingElement(element) ? bindingIn(element.name, wanted) : undefined;
    if (found) return found;
  }
  return undefined;
};

const declaredBy = (statement: ts.Node, wanted: string): ts.Node | undefined => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => bindingIn(name, wanted)).find((found) => found !== undefined);
  const isNamed = ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement);
  return isNamed && statement.name?.text === wanted ? statement : undefined;
};

const importedBy = (file: ts.SourceFile, wanted: string): ts.Node | undefined => {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    const imported = bindings && ts.isNamedImports(bindings) && bindings.elements.find(({ name }) => name.text === wanted);
    const from = sources.get(path.join(path.dirname(file.fileName), statement.moduleSpecifier.text));
    if (imported && from) return declarationIn(from, (imported.propertyName ?? imported.name).text);
  }
  return undefined;
};

const declarationIn = (file: ts.SourceFile, wanted: string): ts.Node | undefined =>
  file.statements.map((statement) => declaredBy(statement, wanted)).find((found) => found !== undefined) ?? importedBy(file, wanted);

/** Finds what a name stands for at a place; undefined if it is of a package or of the language. */
export const declarationOf = (name: string, place: ts.Node): ts.Node | undefined => {
  for (let scope = place.parent; scope !== undefined; scope = scope.parent) {
    if (ts.isFunctionLike(scope))
      for (const parameter of scope.parameters) {
        const found = bindingIn(parameter.name, name);
        if (found) return found;
      }
    if (ts.isBlock(scope))
      for (const statement of scope.statements) {
        const found = declaredBy(statement, name);
        if (found) return found;
      }
    if ((ts.isForOfStatement(scope) || ts.isForStatement(scope)) && scope.initializer && ts.isVariableDeclarationList(scope.initializer))
      for (const declaration of scope.initializer.declarations) {
        const found = bindingIn(declaration.name, name);
        if (found) return found;
      }
    if (ts.isSourceFile(scope)) return declarationIn(scope, name);
  }
  return undefined;
};
