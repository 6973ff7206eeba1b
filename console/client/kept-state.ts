import { useState } from 'react';
import { queryClient } from './queries.ts';

const KEPT = 'kept';

queryClient.setQueryDefaults([KEPT], { gcTime: Number.POSITIVE_INFINITY });

/**
 * State that stays when its user looks at other screens, such as a reply that is half written. It is only in memory, and ends
 * with the session.
 * @param name what it belongs to, such as the id of a ticket
 */
export const useKeptState = <Value>(name: string, initial: Value): [Value, (value: Value) => void] => {
  const queryKey = [KEPT, name];
  const [value, setValue] = useState(() => queryClient.getQueryData<Value>(queryKey) ?? initial);
  const keep = (next: Value): void => {
    setValue(next);
    queryClient.setQueryData(queryKey, next);
  };
  return [value, keep];
};
