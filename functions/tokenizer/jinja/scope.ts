import type { Value } from './values.ts';

/** The variables of a block, with those of the blocks around it. */
export class Scope {
  readonly #variables = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  get(name: string): Value {
    for (let scope: Scope | undefined = this; scope; scope = scope.#outer) {
      if (scope.#variables.has(name)) return scope.#variables.get(name);
    }
    return undefined;
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}
