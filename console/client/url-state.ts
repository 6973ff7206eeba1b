import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/**
 * A value in the address, such as a filter: a link to the screen has it, and the browser's back button undoes it.
 * @param fallback the value that the address leaves out
 */
export const useUrlState = <Value extends string>(name: string, fallback: Value): readonly [Value, (value: Value) => void] => {
  const [parameters, setParameters] = useSearchParams();
  const value = (parameters.get(name) ?? fallback) as Value;
  const set = useCallback(
    (next: Value) =>
      setParameters((was) => {
        const changed = new URLSearchParams(was);
        if (next === fallback) changed.delete(name);
        else changed.set(name, next);
        return changed;
      }),
    [name, fallback, setParameters],
  );
  return [value, set];
};
