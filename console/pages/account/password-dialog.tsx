import { useState } from 'react';
import { request } from '../../client/request.ts';
import { logOut } from '../../client/session.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { NewPasswordField } from '../sign-in/new-password-field.tsx';

/** Changes the user's own password, which ends all their sessions. */
export const PasswordDialog = ({ onClose }: { onClose: () => void }) => {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  return (
    <Dialog title="Change your password" onClose={onClose}>
      <Form
        submitLabel="Change password"
        canSubmit={current !== '' && next !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/auth/password', { body: { current_password: current, new_password: next } });
          await logOut().catch(() => undefined);
        }}
      >
        <p>This ends all your sessions, including this one. You then sign in again with the new password.</p>
        <TextField
          label="Current password"
          type="password"
          value={current}
          onChange={setCurrent}
          autoComplete="current-password"
          autoFocus
        />
        <NewPasswordField value={next} onChange={setNext} />
      </Form>
    </Dialog>
  );
};
