import { useSyncExternalStore } from 'react';
import { sessionState, subscribe } from '../client/session.ts';
import { ProofDialog } from './proof-dialog.tsx';
import { Shell } from './shell.tsx';
import { SignInAgain } from './sign-in-again.tsx';

/** Everything that a signed-in user sees. */
export const SignedIn = () => {
  const state = useSyncExternalStore(subscribe, sessionState);
  return (
    <>
      <Shell />
      <ProofDialog />
      {state === 'expired' && <SignInAgain />}
    </>
  );
};
