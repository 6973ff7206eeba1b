import { useState } from 'react';
import { useLocation } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Menu } from '../../design/controls/menu.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { EditUser } from './edit-user.tsx';
import { EndAccess } from './end-access.tsx';
import { type User, userStateOf } from './roles.ts';

type Action = 'edit' | 'enable' | 'disable' | 'delete' | 'invite' | 'reset';

const ActionDialog = ({ action, user, isOwn, onClose }: { action: Action; user: User; isOwn: boolean; onClose: () => void }) => {
  const { id, email, version } = user;
  switch (action) {
    case 'edit':
      return <EditUser user={user} isOwn={isOwn} onClose={onClose} />;
    case 'disable':
    case 'delete':
      return <EndAccess user={user} isDeletion={action === 'delete'} onClose={onClose} />;
    case 'enable':
      return (
        <Confirm
          title={`Enable ${email}`}
          action="Enable user"
          onClose={onClose}
          onConfirm={async () => {
            await request('PATCH /v1/users/{id}', { parameters: { id }, body: { status: 'active' }, version });
            await readAgain('/v1/users');
          }}
        >
          <p>They can sign in again with their existing password.</p>
        </Confirm>
      );
    case 'invite':
      return (
        <Confirm
          title={`Resend invitation to ${email}`}
          action="Resend invitation"
          onClose={onClose}
          onConfirm={() => request('POST /v1/users/{id}/invitation', { parameters: { id } })}
        >
          <p>They get an email with a new temporary password. The earlier one no longer works.</p>
        </Confirm>
      );
    case 'reset':
      return (
        <Confirm
          title={`Reset second factor of ${email}`}
          action="Reset second factor"
          onClose={onClose}
          onConfirm={() => request('POST /v1/users/{id}/totp-reset', { parameters: { id } })}
        >
          <p>
            Use this if the user has lost their second factor. Verify their identity first. Their sessions end, and they can sign in with
            only their password.
          </p>
        </Confirm>
      );
  }
};

/** The actions on a user. */
export const UserActions = ({ user }: { user: User }) => {
  const me = useSignedIn();
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState<{ action: Action; user: User }>();
  const isOwn = user.id === me.id;
  const state = userStateOf(user);
  const entry = (label: string, action: Action, isDangerous = false) => ({
    label,
    // A dialog acts on the version that it was opened with.
    onSelect: () => setChosen({ action, user }),
    isDangerous,
  });
  const items = can(me, 'users:write')
    ? [
        entry('Edit user', 'edit'),
        ...(state === 'invited' ? [entry('Resend invitation', 'invite')] : []),
        ...(isOwn ? [] : [entry('Reset second factor', 'reset')]),
        ...(isOwn ? [] : [state === 'disabled' ? entry('Enable user', 'enable') : entry('Disable user', 'disable', true)]),
        ...(isOwn ? [] : [entry('Delete user', 'delete', true)]),
      ]
    : [];
  const keysOf = new URLSearchParams({ created_by: user.id, ...(me.organization === null && { organization: user.organization ?? '' }) });
  const keys = { label: 'Show API keys', onSelect: () => navigate(`/api-keys?${keysOf}`) };
  return (
    <>
      <Menu label={`Actions of ${user.email}`} items={[...(can(me, 'keys:read') && user.organization !== null ? [keys] : []), ...items]} />
      {chosen && <ActionDialog {...chosen} isOwn={isOwn} onClose={() => setChosen(undefined)} />}
    </>
  );
};
