import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import type { Me } from '../client/me.ts';
import { queryClient } from '../client/queries.ts';
import { request } from '../client/request.ts';
import { onLoginElsewhere, refresh, sessionState, subscribe } from '../client/session.ts';
import { ProofDialog } from './proof-dialog.tsx';
import { Shell } from './shell.tsx';
import { SignInAgain } from './sign-in-again.tsx';

// Whoever signs in again can be another user, who sees nothing of the one before.
const readAgain = async (): Promise<void> => {
  const known = queryClient.getQueryData<Me>(['GET /v1/me', {}]);
  const isAnother =
    known &&
    (await request('GET /v1/me', {}).then(
      ({ id }) => id !== known.id,
      () => false,
    ));
  await (isAnother ? queryClient.resetQueries() : queryClient.invalidateQueries());
};

/** Everything that a signed-in user sees. */
export const SignedIn = () => {
  const state = useSyncExternalStore(subscribe, sessionState);
  useEffect(() => {
    if (state === 'signed-in') void readAgain();
  }, [state]);
  // A login in another tab has replaced the session of this one.
  useEffect(() => onLoginElsewhere(() => void refresh().then(readAgain, () => undefined)), []);
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
