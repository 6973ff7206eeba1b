import { useState } from 'react';
import type { Role } from '../../../shared/hosts/permissions.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { PLATFORM, rolesIn } from './roles.ts';

interface InviteUserProps {
  /** Undefined: the caller's own. */
  organization: string | undefined;
  onClose: () => void;
}

/** Invites a user by email. */
export const InviteUser = ({ organization, onClose }: InviteUserProps) => {
  const roles = rolesIn(organization ?? '');
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(roles[0]?.[0] ?? 'member');
  return (
    <Dialog title="Invite user" onClose={onClose}>
      <Form
        submitLabel="Send invitation"
        canSubmit={email.includes('@')}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/users', {
            body: {
              email: email.trim(),
              name: name.trim() || null,
              role,
              ...(organization !== undefined && organization !== PLATFORM && { organization }),
            },
          });
          await readAgain('/v1/users', '/v1/summary');
          onClose();
        }}
      >
        <TextField label="Email" type="email" value={email} onChange={setEmail} autoComplete="off" autoFocus />
        <TextField label="Name" value={name} onChange={setName} autoComplete="off" maxLength={100} />
        <SelectField label="Role" value={role} onChange={setRole} choices={roles} />
        <p>They get an email with a temporary password, which is valid for 7 days.</p>
      </Form>
    </Dialog>
  );
};
