import { useState } from 'react';
import type { Look } from '../controls/button.tsx';
import { TextField } from '../controls/fields.tsx';
import { Dialog, type DialogProps } from '../feedback/dialog.tsx';
import { isTypedName } from '../format/typed-name.ts';
import { Stack } from '../layout/layout.tsx';
import { Form } from './form.tsx';

interface ConfirmProps extends DialogProps {
  /** The verb of what will be done, such as `Revoke key`. */
  action: string;
  /** The name of the thing, which must be typed first if the action can't be undone. */
  typed?: string;
  /** False: a field among the children is incomplete. */
  canConfirm?: boolean;
  /** `primary` for what begins something. */
  look?: Look;
  /** A repeated attempt has the same idempotency key. */
  onConfirm: (attempt: { idempotencyKey: string }) => Promise<unknown>;
}

/** Asks before something is ended, deleted or begun. `children` says what will happen, and to what. */
export const Confirm = ({ title, action, typed, canConfirm = true, look = 'danger', onConfirm, onClose, children }: ConfirmProps) => {
  const [text, setText] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submitLabel={action}
        look={look}
        canSubmit={canConfirm && (typed === undefined || isTypedName(text, typed))}
        onCancel={onClose}
        onSubmit={async (attempt) => {
          await onConfirm(attempt);
          onClose();
        }}
      >
        <Stack>{children}</Stack>
        {typed !== undefined && <TextField label={`Type ${typed} to confirm`} value={text} onChange={setText} isCode autoComplete="off" />}
      </Form>
    </Dialog>
  );
};
