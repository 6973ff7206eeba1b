import { lazy, Suspense, useEffect, useState } from 'react';
import { Button } from '../../design/controls/button.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Skeleton } from '../../design/feedback/loaded.tsx';
import { Entrance } from '../../design/layout/layout.tsx';
import { LoginForm } from './login-form.tsx';

const ResetForm = lazy(async () => ({ default: (await import('./reset-form.tsx')).ResetForm }));

/** The page of those who are not signed in. The address stays, so a link opens its screen after the login. */
export const SignIn = () => {
  const [isResetting, setResetting] = useState(false);
  const [isReset, setReset] = useState(false);
  useEffect(() => {
    document.title = 'Sign in – Sluice';
  }, []);
  return (
    <Entrance>
      <h1>{isResetting ? 'Set a new password' : 'Sign in to Sluice'}</h1>
      {isReset && <Notice tone="good">Your password was changed. Sign in with it.</Notice>}
      {isResetting ? (
        <Suspense fallback={<Skeleton />}>
          <ResetForm
            onCancel={() => setResetting(false)}
            onDone={() => {
              setReset(true);
              setResetting(false);
            }}
          />
        </Suspense>
      ) : (
        <>
          <LoginForm />
          <div>
            <Button look="plain" onClick={() => setResetting(true)}>
              Forgot your password?
            </Button>
          </div>
        </>
      )}
    </Entrance>
  );
};
