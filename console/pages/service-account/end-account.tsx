import { useState } from 'react';
import { useLocation } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { isTypedName } from '../../design/format/typed-name.ts';
import { Form } from '../../design/forms/form.tsx';
import type { ServiceAccount } from '../service-accounts/account-draft.ts';
import { OpenKeys } from '../users/end-access.tsx';

interface EndAccountProps {
  account: ServiceAccount;
  /** Deletes the account, or else disables it. */
  isDeletion: boolean;
  onClose: () => void;
}

/** Disables or deletes a service account, and revokes its API keys or names those that still work. */
export const EndAccount = ({ account: { id, name, version }, isDeletion, onClose }: EndAccountProps) => {
  const [, navigate] = useLocation();
  const [revokesKeys, setRevokes] = useState(false);
  const [typed, setTyped] = useState('');
  const [left, setLeft] = useState<readonly string[]>();
  const leave = async () => {
    if (isDeletion) navigate('/service-accounts');
    await readAgain('/v1/service-accounts', '/v1/api-keys');
    if (!isDeletion) onClose();
  };
  if (left) return <OpenKeys name={name} keys={left} onClose={() => void leave()} />;
  const end = () =>
    isDeletion
      ? request('DELETE /v1/service-accounts/{id}', {
          parameters: { id },
          query: { revoke_keys: revokesKeys ? 'true' : 'false' },
          version,
        })
      : request('PATCH /v1/service-accounts/{id}', {
          parameters: { id },
          body: { status: 'disabled', ...(revokesKeys && { revoke_keys: true }) },
          version,
        });
  return (
    <Dialog title={`${isDeletion ? 'Delete' : 'Disable'} ${name}`} onClose={onClose}>
      <Form
        submitLabel={isDeletion ? 'Delete service account' : 'Disable service account'}
        look="danger"
        canSubmit={!isDeletion || isTypedName(typed, name)}
        onCancel={onClose}
        onSubmit={async () => {
          const { open_api_keys: open = [] } = await end();
          if (open.length > 0) setLeft(open);
          else await leave();
        }}
      >
        <p>
          {isDeletion
            ? "Its secrets and federation rules are deleted, and its sessions end. This can't be undone."
            : "Its sessions end. Its secrets and federation rules don't work until you enable it again."}
        </p>
        <CheckField
          label="Revoke the API keys that it created"
          hint="Otherwise, the keys keep working, and you see a list of them afterwards. Keys of its federation rules are always revoked."
          checked={revokesKeys}
          onChange={setRevokes}
        />
        {isDeletion && <TextField label={`Type ${name} to confirm`} value={typed} onChange={setTyped} isCode autoComplete="off" />}
      </Form>
    </Dialog>
  );
};
