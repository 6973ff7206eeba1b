import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { Router } from 'wouter';
import { consolePath } from '../client/address.ts';
import { refresh, sessionState, subscribe } from '../client/session.ts';
import { returnedCode } from '../client/single-sign-on.ts';
import { Failure } from '../design/feedback/failure.tsx';
import { later } from '../design/feedback/later.tsx';
import { Skeleton } from '../design/feedback/loaded.tsx';
import { Entrance } from '../design/layout/layout.tsx';
import { SignIn } from '../pages/sign-in/sign-in.tsx';
import { Boundary } from './boundary.tsx';

const Loading = () => (
  <Entrance>
    <Skeleton label="Signing in" />
  </Entrance>
);

// Whoever signs in first loads less.
const SignedIn = later(async () => (await import('./signed-in.tsx')).SignedIn, Loading);

const FinishSingleSignOn = later(async () => (await import('../pages/sign-in/single-sign-on.tsx')).FinishSingleSignOn, Loading);

// The service can fail to say who is signed in. Then nothing is known, and the user can ask again.
const Unknown = () => {
  const [failure, setFailure] = useState<Error>();
  const ask = useCallback(() => {
    setFailure(undefined);
    refresh().catch(setFailure);
  }, []);
  useEffect(ask, [ask]);
  if (!failure) return <Loading />;
  return (
    <Entrance>
      <Failure failure={failure} onRetry={ask} />
    </Entrance>
  );
};

const Gate = () => {
  const state = useSyncExternalStore(subscribe, sessionState);
  const [code, setCode] = useState(returnedCode);
  const forgetCode = useCallback(() => setCode(undefined), []);
  if (code !== undefined) return <FinishSingleSignOn code={code} onDone={forgetCode} />;
  if (state === 'unknown') return <Unknown />;
  if (state === 'signed-out') return <SignIn />;
  return <SignedIn />;
};

export const App = () => (
  <Router base={consolePath}>
    <Boundary>
      <Gate />
    </Boundary>
  </Router>
);
