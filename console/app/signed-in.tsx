import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { queryClient } from '../client/queries.ts';
import { sessionState, subscribe } from '../client/session.ts';
import { ProofDialog } from './proof-dialog.tsx';
import { Shell } from './shell.tsx';
import { SignInAgain } from './sign-in-again.tsx';

/** Everything that a signed-in user sees. */
export const SignedIn = () => {
  const state = useSyncExternalStore(subscribe, sessionState);
  // Whoever signs in again can be another user.
  useEffect(() => {
    if (state === 'signed-in') void queryClient.invalidateQueries();
  }, [state]);
  // The next user of this browser sees nothing of the one before.
  useEffect(() => () => queryClient.clear(), []);
  return (
    <QueryClientProvider client={queryClient}>
      <Shell />
      <ProofDialog />
      {state === 'expired' && <SignInAgain />}
    </QueryClientProvider>
  );
};
