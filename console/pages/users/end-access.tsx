import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiFailure } from '../../client/api-failure.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Items, Row } from '../../design/layout/layout.tsx';
import type { User } from './roles.ts';

interface EndAccessProps {
  user: User;
  /** Deletes the user, or else disables them. */
  isDeletion: boolean;
  onClose: () => void;
}

/** The API keys that still work after the access of their creator has ended. */
export const OpenKeys = ({ name, keys, onClose }: { name: string; keys: readonly string[]; onClose: () => void }) => (
  <Dialog title={`API keys of ${name}`} onClose={onClose}>
    <Notice tone="warn">These API keys still work. Revoke the ones that you no longer need.</Notice>
    <Items>
      {keys.map((id) => (
        <li key={id}>
          <Link to={`/api-keys/${id}`}>{id}</Link>
        </li>
      ))}
    </Items>
    <Row>
      <Button onClick={onClose}>Close</Button>
    </Row>
  </Dialog>
);

/** Disables or deletes a user, and revokes their API keys or names those that still work. */
export const EndAccess = ({ user: { id, email, version }, isDeletion, onClose }: EndAccessProps) => {
  const [revokesKeys, setRevokes] = useState(false);
  const [typed, setTyped] = useState('');
  const [left, setLeft] = useState<readonly string[]>();
  const [hasBegun, setBegun] = useState(false);
  if (left) return <OpenKeys name={email} keys={left} onClose={onClose} />;
  // If there was no time to revoke all keys (503), the user is disabled already, and their version is another one.
  const remove = () =>
    request('DELETE /v1/users/{id}', {
      parameters: { id },
      query: { revoke_keys: revokesKeys ? 'true' : 'false' },
      ...(!hasBegun && { version }),
    }).catch((failure: ApiFailure) => {
      if (revokesKeys && failure.status === 503) setBegun(true);
      throw failure;
    });
  const end = () =>
    isDeletion
      ? remove()
      : request('PATCH /v1/users/{id}', {
          parameters: { id },
          body: { status: 'disabled', ...(revokesKeys && { revoke_keys: true }) },
          version,
        });
  return (
    <Dialog title={`${isDeletion ? 'Delete' : 'Disable'} ${email}`} onClose={onClose}>
      <Form
        submitLabel={isDeletion ? 'Delete user' : 'Disable user'}
        look="danger"
        canSubmit={!isDeletion || typed === email}
        onCancel={onClose}
        onSubmit={async () => {
          const { open_api_keys: open = [] } = await end();
          if (open.length > 0) setLeft(open);
          await readAgain('/v1/users', '/v1/api-keys');
          if (open.length === 0) onClose();
        }}
      >
        <p>
          {isDeletion
            ? "The user is removed and can no longer sign in. This can't be undone."
            : "All their sessions end, and they can't sign in until you enable them again."}
        </p>
        <CheckField
          label="Revoke the API keys that they created"
          hint="Otherwise, the keys keep working, and you see a list of them afterwards."
          checked={revokesKeys}
          onChange={setRevokes}
        />
        {isDeletion && <TextField label={`Type ${email} to confirm`} value={typed} onChange={setTyped} isCode autoComplete="off" />}
      </Form>
    </Dialog>
  );
};
