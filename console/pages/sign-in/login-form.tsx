import { useState } from 'react';
import type { ReplyBody } from '../../client/routes.ts';
import { beginSession, callWithCookie } from '../../client/session.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Form } from '../../design/forms/form.tsx';
import { NewPasswordField } from './new-password-field.tsx';

type Challenge = Extract<ReplyBody<'POST /v1/auth/browser/login'>, { object: 'challenge' }>;

interface Pending {
  email: string;
  staysSignedIn: boolean;
  challenge: Challenge;
}

interface ChallengeFormProps {
  pending: Pending;
  onResult: (result: ReplyBody<'POST /v1/auth/browser/login'>) => void;
  onCancel: () => void;
}

const ChallengeForm = ({ pending: { email, staysSignedIn, challenge }, onResult, onCancel }: ChallengeFormProps) => {
  const [answer, setAnswer] = useState('');
  const isCode = challenge.challenge === 'totp';
  return (
    <Form
      submitLabel={isCode ? 'Sign in' : 'Set password and sign in'}
      canSubmit={answer !== ''}
      onCancel={onCancel}
      onSubmit={async () => {
        const given = isCode ? { code: answer.replaceAll(' ', '') } : { new_password: answer };
        onResult(
          await callWithCookie('POST /v1/auth/browser/challenge', {
            email,
            session: challenge.session,
            stay_signed_in: staysSignedIn,
            ...given,
          }),
        );
      }}
    >
      {isCode ? (
        <TextField
          label="Code of your authenticator app"
          value={answer}
          onChange={setAnswer}
          inputMode="numeric"
          autoComplete="one-time-code"
          isCode
          autoFocus
        />
      ) : (
        <>
          <p>Your password is temporary. Choose one of your own.</p>
          <NewPasswordField value={answer} onChange={setAnswer} autoFocus />
        </>
      )}
    </Form>
  );
};

/** Signs in with a password, and with what the service asks for after it. */
export const LoginForm = () => {
  const [email, setEmail] = useState('');
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
      <TextField label="E-mail" type="email" value={email} onChange={setEmail} autoComplete="username" autoFocus />
      <TextField label="Password" type="password" value={password} onChange={setPassword} autoComplete="current-password" />
      <CheckField
        label="Stay signed in"
        hint="For 30 days, on a computer that only you use. Otherwise until you close the browser."
        checked={staysSignedIn}
        onChange={setStays}
      />
    </Form>
  );
};
