import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

// The value with which a screen opens a dialog. Once it is closed, the back button must not open it again.
const DIALOG = 'dialog';

/**
 * A value in the address, such as a filter: a link to the screen has it, and the browser's back button undoes it.
 * @param fallback the value that the address leaves out
 */
export const useUrlState = <Value extends string>(name: string, fallback: Value): readonly [Value, (value: Value) => void] => {
  const [parameters, setParameters] = useSearchParams();
  const value = (parameters.get(name) ?? fallback) as Value;
  const set = useCallback(
    (next: Value) =>
      setParameters(
        (was) => {
          const changed = new URLSearchParams(was);
          if (next === fallback) changed.delete(name);
          else changed.set(name, next);
          return changed;
        },
        { replace: name === DIALOG && next === fallback },
      ),
    [name, fallback, setParameters],
  );
  return [value, set];
};

/**
 * Several values in the address, which can change at once. An empty value is left out.
 * @param names of the parameters
 */
export const useUrlStates = <Name extends string>(
  names: readonly Name[],
): readonly [Readonly<Record<Name, string>>, (changes: Partial<Record<Name, string>>) => void] => {
  const [parameters, setParameters] = useSearchParams();
  const values = Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ''])) as Record<Name, string>;
  const change = (changes: Partial<Record<Name, string>>) =>
    setParameters(
      (was) => {
        const changed = new URLSearchParams(was);
        for (const [name, value] of Object.entries<string | undefined>(changes)) {
          if (value) changed.set(name, value);
          else changed.delete(name);
        }
        return changed;
      },
      { replace: (changes as Record<string, string | undefined>)[DIALOG] === '' },
    );
  return [values, change];
};
