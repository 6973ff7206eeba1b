import { logOut } from '../client/session.ts';
import { Dialog } from '../design/feedback/dialog.tsx';
import { LoginForm } from '../pages/sign-in/login-form.tsx';

/** Asks a user to sign in again above the screen, so that nothing that they typed is lost. */
export const SignInAgain = () => (
  <Dialog title="Your session has ended" onClose={() => void logOut()}>
    <p>Sign in again to go on where you were.</p>
    <LoginForm />
  </Dialog>
);
