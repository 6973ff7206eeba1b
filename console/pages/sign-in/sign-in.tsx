import { useEffect, useState } from 'react';
import { Button } from '../../design/controls/button.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { later } from '../../design/feedback/later.tsx';
import { Entrance, Row } from '../../design/layout/layout.tsx';
import { LoginForm } from './login-form.tsx';

const ResetForm = later(async () => (await import('./reset-form.tsx')).ResetForm);

const SingleSignOnForm = later(async () => (await import('./single-sign-on.tsx')).SingleSignOnForm);

type Way = 'password' | 'single-sign-on' | 'reset';

const TITLES: Readonly<Record<Way, string>> = {
  password: 'Sign in to Sluice',
  'single-sign-on': 'Sign in with your company',
  reset: 'Set a new password',
};

/** The page of those who are not signed in. The address stays, so a link opens its screen after the login. */
export const SignIn = () => {
  const [way, setWay] = useState<Way>('password');
  const [isReset, setReset] = useState(false);
  const back = () => setWay('password');
  useEffect(() => {
    document.title = 'Sign in – Sluice';
  }, []);
  return (
    <Entrance>
      <h1>{TITLES[way]}</h1>
      {isReset && <Notice tone="good">Your password was changed. Sign in with it.</Notice>}
      {way === 'password' && (
        <>
          <LoginForm />
          <Row>
            <Button onClick={() => setWay('single-sign-on')}>Sign in with your company</Button>
            <Button look="plain" onClick={() => setWay('reset')}>
              Forgot your password?
            </Button>
          </Row>
        </>
      )}
      {way === 'single-sign-on' && <SingleSignOnForm onCancel={back} />}
      {way === 'reset' && (
        <ResetForm
          onCancel={back}
          onDone={() => {
            setReset(true);
            back();
          }}
        />
      )}
    </Entrance>
  );
};
