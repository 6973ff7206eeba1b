import { useState } from 'react';
import type { ReplyBody } from '../../client/routes.ts';
import { beginSession, callWithCookie } from '../../client/session.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Form } from '../../design/forms/form.tsx';
import { ChallengeForm, type Pending } from './challenge-form.tsx';

/**
 * Signs in with a password, and with what the service asks for after it.
 * @param email the user whose session has ended
 */
export const LoginForm = ({ email: known = '' }: { email?: string | undefined }) => {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const [staysSignedIn, setStays] = useState(false);
  const [pending, setPending] = useState<Pending>();

  const onResult = (result: ReplyBody<'POST /v1/auth/browser/login'>) => {
    if (result.object === 'challenge') setPending({ email, staysSignedIn, challenge: result });
    else beginSession(result);
  };
  if (pending) {
    const { session } = pending.challenge;
    return <ChallengeForm key={session} pending={pending} onResult={onResult} onCancel={() => setPending(undefined)} />;
  }
  return (
    <Form
      submitLabel="Sign in"
      canSubmit={email !== '' && password !== ''}
      onSubmit={async () =>
        onResult(await callWithCookie('POST /v1/auth/browser/login', { email, password, stay_signed_in: staysSignedIn }))
      }
    >
      <TextField label="Email" type="email" value={email} onChange={setEmail} autoComplete="username" autoFocus />
      <TextField label="Password" type="password" value={password} onChange={setPassword} autoComplete="current-password" />
      <CheckField
        label="Stay signed in"
        hint="For 30 days. Use this only on your own computer. Otherwise, your session ends when you close the browser."
        checked={staysSignedIn}
        onChange={setStays}
      />
    </Form>
  );
};
