import type { Callable, Value } from './values.ts';

/**
 * A function with named parameters, as in Python. Parameters that the call leaves out are `undefined`.
 * @param required how many of the parameters a call must have
 */
export const withParameters =
  (names: readonly string[], call: (...values: Value[]) => Value, required = 0): Callable =>
  (args) => {
    if (args.positional.length > names.length)
      throw new Error(`Expected at most ${names.length} arguments, got ${args.positional.length}.`);
    const values: Value[] = [...args.positional];
    for (const [name, value] of args.named) {
      const index = names.indexOf(name);
      if (index < 0) throw new Error(`Unexpected keyword argument '${name}'.`);
      values[index] = value;
    }
    if (values.length < required) throw new Error(`Missing argument: '${names[values.length]}'.`);
    return call(...values);
  };
