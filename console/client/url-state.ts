import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

// The value with which a screen opens a dialog. Once it is closed, the back button must not open it again.
const DIALOG = 'dialog';

// Values that are undefined are left out of the address.
const useParameters = () => {
  const [parameters, setParameters] = useSearchParams();
  const change = useCallback(
    (changes: Readonly<Record<string, string | undefined>>) =>
      setParameters(
        (was) => {
          const changed = new URLSearchParams(was);
          for (const [name, value] of Object.entries(changes)) {
            if (value === undefined) changed.delete(name);
            else changed.set(name, value);
          }
          return changed;
        },
        { replace: DIALOG in changes && changes[DIALOG] === undefined },
      ),
    [setParameters],
  );
  return [parameters, change] as const;
};

/**
 * A value in the address, such as a filter: a link to the screen has it, and the browser's back button undoes it.
 * @param fallback the value that the address leaves out
 */
export const useUrlState = <Value extends string>(name: string, fallback: Value): readonly [Value, (value: Value) => void] => {
  const [parameters, change] = useParameters();
  const set = useCallback((next: Value) => change({ [name]: next === fallback ? undefined : next }), [name, fallback, change]);
  return [(parameters.get(name) ?? fallback) as Value, set];
};

/**
 * Several values in the address, which can change at once. An empty value is left out.
 * @param names of the parameters
 */
export const useUrlStates = <Name extends string>(
  names: readonly Name[],
): readonly [Readonly<Record<Name, string>>, (changes: Partial<Record<Name, string>>) => void] => {
  const [parameters, change] = useParameters();
  const values = Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ''])) as Record<Name, string>;
  const changeSome = (changes: Partial<Record<Name, string>>) =>
    change(Object.fromEntries(Object.entries<string | undefined>(changes).map(([name, value]) => [name, value || undefined])));
  return [values, changeSome];
};
