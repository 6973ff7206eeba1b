import { spend } from './budget.ts';
import { compile, type Evaluate } from './expressions.ts';
import { type Parameter, type Statement, walk } from './nodes.ts';
import { TemplateScope } from './scope.ts';
import { type Arguments, type Callable, Tuple, type Value } from './values.ts';

/** Renders a block to text. */
export type RenderBlock = (scope: TemplateScope) => string;

interface CompiledParameter {
  name: string;
  fallback: Evaluate | undefined;
}

const toParameter = (parameter: Parameter): CompiledParameter =>
  parameter.type === 'Identifier'
    ? { name: parameter.value, fallback: undefined }
    : { name: parameter.key.value, fallback: compile(parameter.value) };

// The names that a macro may use without declaring them.
const IMPLICIT = ['varargs', 'kwargs', 'caller'] as const;

const namesIn = (body: readonly Statement[]): Set<string> => {
  const names = new Set<string>();
  for (const node of walk(body)) if (node.type === 'Identifier') names.add(node.value);
  return names;
};

/**
 * Compiles a macro, or the block of a `call`. Its text is rendered with the variables of the scope in which it is
 * defined.
 * @returns makes the macro for a scope
 */
export const compileMacro = (
  parameters: readonly Parameter[],
  body: readonly Statement[],
  render: RenderBlock,
): ((scope: TemplateScope) => Callable) => {
  const compiled = parameters.map(toParameter);
  const used = namesIn(body);
  const declared = new Set(compiled.map(({ name }) => name));
  const uses = (name: (typeof IMPLICIT)[number]): boolean => used.has(name) && !declared.has(name);

  const bindOthers = (inner: TemplateScope, positional: readonly Value[], named: Map<string, Value>): void => {
    if (uses('caller')) {
      inner.set('caller', named.get('caller'));
      named.delete('caller');
    }
    if (uses('kwargs')) inner.set('kwargs', new Map(named));
    else if (named.size > 0) throw new Error(`A macro takes no keyword argument '${[...named.keys()][0]}'.`);
    if (uses('varargs')) inner.set('varargs', new Tuple(positional));
    else if (positional.length > 0) throw new Error(`A macro takes not more than ${compiled.length} argument(s).`);
  };

  const bind = (inner: TemplateScope, { positional, named }: Arguments): void => {
    const rest = new Map(named);
    const missing = compiled.filter(({ name }, index) => {
      const value = index < positional.length ? positional[index] : rest.get(name);
      const isMissing = index >= positional.length && !rest.has(name);
      if (index >= positional.length) rest.delete(name);
      inner.set(name, value);
      return isMissing;
    });
    bindOthers(inner, positional.slice(compiled.length), rest);
    for (const { name, fallback } of missing) if (fallback) inner.set(name, fallback(inner));
  };

  return (scope) => (args) => {
    spend(1);
    const inner = new TemplateScope(scope);
    bind(inner, args);
    return render(inner);
  };
};
