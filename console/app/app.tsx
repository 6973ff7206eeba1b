import { lazy, Suspense, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { Router } from 'wouter';
import { consolePath } from '../client/address.ts';
import { refresh, sessionState, subscribe } from '../client/session.ts';
import { returnedCode } from '../client/single-sign-on.ts';
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
const SignedIn = lazy(async () => ({ default: (await import('./signed-in.tsx')).SignedIn }));

const FinishSingleSignOn = lazy(async () => ({ default: (await import('../pages/sign-in/single-sign-on.tsx')).FinishSingleSignOn }));

const Gate = () => {
  const state = useSyncExternalStore(subscribe, sessionState);
  const [code, setCode] = useState(returnedCode);
  const forgetCode = useCallback(() => setCode(undefined), []);
  useEffect(() => {
    if (state === 'unknown' && code === undefined) refresh().catch(() => undefined);
  }, [state, code]);
  if (code !== undefined)
    return (
      <Suspense fallback={<Loading />}>
        <FinishSingleSignOn code={code} onDone={forgetCode} />
      </Suspense>
    );
  if (state === 'unknown') return <Loading />;
  if (state === 'signed-out') return <SignIn />;
  return (
    <Suspense fallback={<Loading />}>
      <SignedIn />
    </Suspense>
  );
};

export const App = () => (
  <Router base={consolePath}>
    <Boundary>
      <Gate />
    </Boundary>
  </Router>
);
