import { useState } from 'react';
import type { ReplyBody } from '../../client/routes.ts';
import { callWithCookie } from '../../client/session.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Form } from '../../design/forms/form.tsx';
import { NewPasswordField } from './new-password-field.tsx';

type Challenge = Extract<ReplyBody<'POST /v1/auth/browser/login'>, { object: 'challenge' }>;

/** A login that needs one more answer. */
export interface Pending {
  email: string;
  staysSignedIn: boolean;
  challenge: Challenge;
}

interface ChallengeFormProps {
  pending: Pending;
  onResult: (result: ReplyBody<'POST /v1/auth/browser/login'>) => void;
  onCancel: () => void;
}

/** Answers what the service asks for after a password: a code, or a new password. */
export const ChallengeForm = ({ pending: { email, staysSignedIn, challenge }, onResult, onCancel }: ChallengeFormProps) => {
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
          label="Code from your authenticator app"
          value={answer}
          onChange={setAnswer}
          inputMode="numeric"
          autoComplete="one-time-code"
          isCode
          autoFocus
        />
      ) : (
        <>
          <p>Your password is temporary. Choose a new one.</p>
          <NewPasswordField value={answer} onChange={setAnswer} autoFocus />
        </>
      )}
    </Form>
  );
};
