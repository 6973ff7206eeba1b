import type { Value } from './values.ts';

/** The variables of a block, with those of the blocks around it. */
export class TemplateScope {
  readonly #variables = new Map<string, Value>();
  readonly #outer: TemplateScope | undefined;

  constructor(outer?: TemplateScope) {
    this.#outer = outer;
  }

  get(name: string): Value {
    for (let scope: TemplateScope | undefined = this; scope; scope = scope.#outer) {
      if (scope.#variables.has(name)) return scope.#variables.get(name);
    }
    return undefined;
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}
