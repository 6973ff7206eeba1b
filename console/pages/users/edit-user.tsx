import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { rolesIn, type User } from './roles.ts';
import { changesOfUser, draftOfUser, faultOfApiKeys, USER_LABELS } from './user-draft.ts';

/** Changes a user's name, role and number of API keys. */
export const EditUser = ({ user, isOwn, onClose }: { user: User; isOwn: boolean; onClose: () => void }) => {
  const { id, email, organization } = user;
  return (
    <Dialog title={`Edit ${email}`} onClose={onClose}>
      <VersionedForm
        thing={user}
        draftOf={draftOfUser}
        labels={USER_LABELS}
        read={() => request('GET /v1/users/{id}', { parameters: { id } })}
        submitLabel="Save user"
        onCancel={onClose}
        canSubmit={(draft, base) =>
          draft.maxApiKeys !== '' && faultOfApiKeys(draft) === undefined && Object.keys(changesOfUser(draft, base)).length > 0
        }
        save={async (draft, base) => {
          await request('PATCH /v1/users/{id}', { parameters: { id }, body: changesOfUser(draft, base), version: base.version });
          await readAgain('/v1/users', '/v1/me');
          onClose();
        }}
      >
        {(draft, change) => (
          <Stack>
            <TextField label={USER_LABELS.name} value={draft.name} onChange={(name) => change({ name })} maxLength={100} autoFocus />
            <SelectField
              label={USER_LABELS.role}
              value={draft.role}
              onChange={(role) => change({ role })}
              choices={rolesIn(organization)}
              disabled={isOwn}
              hint={isOwn ? 'Another owner or an admin can change your role.' : undefined}
            />
            {draft.role === 'member' && (
              <TextField
                label={USER_LABELS.maxApiKeys}
                value={draft.maxApiKeys}
                onChange={(maxApiKeys) => change({ maxApiKeys })}
                fault={faultOfApiKeys(draft)}
                inputMode="numeric"
                disabled={isOwn}
              />
            )}
          </Stack>
        )}
      </VersionedForm>
    </Dialog>
  );
};
