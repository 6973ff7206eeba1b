import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react';
import { Router } from 'wouter';
import { consolePath } from '../client/address.ts';
import { queryClient } from '../client/queries.ts';
import { refresh, sessionState, subscribe } from '../client/session.ts';
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

const Gate = () => {
  const state = useSyncExternalStore(subscribe, sessionState);
  useEffect(() => {
    if (state === 'unknown') refresh().catch(() => undefined);
    // The next user of this browser sees nothing of the one before.
    if (state === 'signed-out') queryClient.clear();
  }, [state]);
  if (state === 'unknown') return <Loading />;
  if (state === 'signed-out') return <SignIn />;
  return (
    <Suspense fallback={<Loading />}>
      <SignedIn />
    </Suspense>
  );
};

export const App = () => (
  <QueryClientProvider client={queryClient}>
    <Router base={consolePath}>
      <Boundary>
        <Gate />
      </Boundary>
    </Router>
  </QueryClientProvider>
);
