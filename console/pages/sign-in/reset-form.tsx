import { useState } from 'react';
import { publicRequest } from '../../client/public-request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Form } from '../../design/forms/form.tsx';
import { NewPasswordField } from './new-password-field.tsx';

interface ResetFormProps {
  onDone: () => void;
  onCancel: () => void;
}

/** Sends a code to an email address, and sets a new password with it. */
export const ResetForm = ({ onDone, onCancel }: ResetFormProps) => {
  const [email, setEmail] = useState('');
  const [isSent, setSent] = useState(false);
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  if (!isSent)
    return (
      <Form
        submitLabel="Send code"
        canSubmit={email !== ''}
        onCancel={onCancel}
        onSubmit={async () => {
          await publicRequest('POST /v1/auth/forgot', { email });
          setSent(true);
        }}
      >
        <TextField label="Email" type="email" value={email} onChange={setEmail} autoComplete="username" autoFocus />
      </Form>
    );
  return (
    <Form
      submitLabel="Set password"
      canSubmit={code !== '' && password !== ''}
      onCancel={onCancel}
      onSubmit={async () => {
        await publicRequest('POST /v1/auth/reset', { email, code: code.trim(), new_password: password });
        onDone();
      }}
    >
      <Notice>If {email} belongs to a user, we've sent a code to it. It can take a minute to arrive.</Notice>
      <TextField label="Code" value={code} onChange={setCode} autoComplete="one-time-code" isCode autoFocus />
      <NewPasswordField value={password} onChange={setPassword} />
    </Form>
  );
};
