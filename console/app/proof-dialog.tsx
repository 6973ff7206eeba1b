import { useEffect, useState } from 'react';
import { askForProofWith } from '../client/proof.ts';
import { request } from '../client/request.ts';
import { TextField } from '../design/controls/fields.tsx';
import { Dialog } from '../design/feedback/dialog.tsx';
import { Form } from '../design/forms/form.tsx';

/** Asks for the password before a change of money or rights, if the login is old. */
export const ProofDialog = () => {
  const [answer, setAnswer] = useState<(proved: boolean) => void>();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  useEffect(() => {
    askForProofWith(() => new Promise((resolve) => setAnswer(() => resolve)));
    return () => askForProofWith(undefined);
  }, []);
  if (!answer) return null;
  const close = (proved: boolean) => {
    answer(proved);
    setAnswer(undefined);
    setPassword('');
    setCode('');
  };
  return (
    <Dialog title="Confirm that it is you" onClose={() => close(false)}>
      <p>You signed in a while ago, and this changes money or rights.</p>
      <Form
        submitLabel="Confirm"
        canSubmit={password !== ''}
        onCancel={() => close(false)}
        onSubmit={async () => {
          await request('POST /v1/auth/proof', { body: { current_password: password, ...(code !== '' && { code }) } });
          close(true);
        }}
      >
        <TextField label="Password" type="password" value={password} onChange={setPassword} autoComplete="current-password" autoFocus />
        <TextField
          label="Code of your authenticator app, if you have one"
          value={code}
          onChange={setCode}
          inputMode="numeric"
          autoComplete="one-time-code"
          isCode
        />
      </Form>
    </Dialog>
  );
};
