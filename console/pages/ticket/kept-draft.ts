import { useState } from 'react';
import { queryClient } from '../../client/queries.ts';

const KEPT = 'kept-draft';

queryClient.setQueryDefaults([KEPT], { gcTime: Number.POSITIVE_INFINITY });

/**
 * A draft that stays while its user sees other screens, such as a reply that is half written. It is only in memory, and
 * ends with the session.
 * @param id the id of what it belongs to
 */
export const useKeptDraft = <Draft>(id: string, empty: Draft): [Draft, (draft: Draft) => void] => {
  const queryKey = [KEPT, id];
  const [draft, setDraft] = useState(() => queryClient.getQueryData<Draft>(queryKey) ?? empty);
  const keep = (next: Draft): void => {
    setDraft(next);
    queryClient.setQueryData(queryKey, next);
  };
  return [draft, keep];
};
