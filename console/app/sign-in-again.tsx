import { useState } from 'react';
import { useKnownMe } from '../client/me.ts';
import { logOut } from '../client/session.ts';
import { Button } from '../design/controls/button.tsx';
import { Dialog } from '../design/feedback/dialog.tsx';
import { later } from '../design/feedback/later.tsx';
import { Row } from '../design/layout/layout.tsx';
import { LoginForm } from '../pages/sign-in/login-form.tsx';

const SingleSignOnForm = later(async () => (await import('../pages/sign-in/single-sign-on.tsx')).SingleSignOnForm);

/** Asks a user to sign in again above the screen, so that nothing that they typed is lost. */
export const SignInAgain = () => {
  const email = useKnownMe()?.email;
  const [isAtCompany, setAtCompany] = useState(false);
  return (
    <Dialog title="Your session has ended">
      <p>Sign in again to continue where you left off. Unsaved changes are still here.</p>
      {isAtCompany ? (
        <SingleSignOnForm email={email} isInNewTab onCancel={() => setAtCompany(false)} />
      ) : (
        <>
          <LoginForm email={email} />
          <Row>
            <Button onClick={() => setAtCompany(true)}>Sign in with your company</Button>
          </Row>
        </>
      )}
      <Row>
        <Button look="plain" onClick={() => void logOut()}>
          Sign out without saving
        </Button>
      </Row>
    </Dialog>
  );
};
