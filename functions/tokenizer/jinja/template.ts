import { withParameters } from './arguments.ts';
import { withBudget } from './budget.ts';
import { globals, UNSUPPORTED_FUNCTIONS } from './globals.ts';
import { type Statement, walk } from './nodes.ts';
import { print } from './print.ts';
import { TemplateScope } from './scope.ts';
import { compileTemplate } from './statements.ts';
import type { Value } from './values.ts';

/** A template rejected the messages with `raise_exception`. */
export class RaisedByTemplate extends Error {
  override readonly name = 'RaisedByTemplate';
}

const raise = withParameters(
  ['message'],
  (message) => {
    throw new RaisedByTemplate(print(message));
  },
  1,
);

const checkFunctions = (body: readonly Statement[]): void => {
  for (const node of walk(body))
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier' && UNSUPPORTED_FUNCTIONS.has(node.callee.value))
      throw new Error(`The function '${node.callee.value}' is not supported.`);
};

/**
 * Compiles a parsed template. It renders as jinja2 does in the environment of Hugging Face's transformers: a sandbox
 * that changes no values, `trim_blocks`, `lstrip_blocks`, `break` and `continue`, `tojson` without escapes.
 * @returns renders the template with variables; throws RaisedByTemplate, TooManySteps, and an Error where Python
 * would fail
 * @throws Error for a construct that can't be rendered as jinja2 does
 */
export const createTemplate = (body: readonly Statement[]): ((variables: Iterable<readonly [string, Value]>) => string) => {
  checkFunctions(body);
  const render = compileTemplate(body);
  return (variables) => {
    const scope = new TemplateScope();
    for (const [name, value] of globals) scope.set(name, value);
    scope.set('raise_exception', raise);
    for (const [name, value] of variables) scope.set(name, value);
    return withBudget(() => render(scope));
  };
};
