import { can, useSignedIn } from '../../client/me.ts';
import { CheckField, CheckGroup, Segments, SelectField, TextField } from '../../design/controls/fields.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { rolesIn } from '../users/roles.ts';
import { ACCOUNT_LABELS, type AccountDraft, ALL, chosenIn, withChosen, withRole } from './account-draft.ts';
import { permissionsOfRole } from './role-permissions.ts';

interface AccountFieldsProps {
  draft: AccountDraft;
  onChange: (changes: Partial<AccountDraft>) => void;
  /** As `rolesIn` takes it. */
  organization: string | null;
}

const PermissionFields = ({ draft, onChange }: Pick<AccountFieldsProps, 'draft' | 'onChange'>) => {
  const me = useSignedIn();
  const chosen = chosenIn(draft);
  const ofRole = permissionsOfRole(draft.role);
  const given = ofRole.filter((permission) => can(me, permission));
  // Nobody can give what they don't have.
  const hasAll = given.length === ofRole.length;
  return (
    <Stack>
      {(hasAll || draft.permissions === ALL) && (
        <Segments
          label="Granted permissions"
          value={draft.permissions === ALL ? 'all' : 'chosen'}
          choices={[
            ['chosen', 'Only these'],
            ['all', 'All of the role'],
          ]}
          onChange={(choice) => onChange({ permissions: choice === 'all' ? ALL : '' })}
        />
      )}
      {draft.permissions !== ALL && (
        <CheckGroup label="Permissions">
          {given.map((permission) => (
            <CheckField
              key={permission}
              label={permission}
              checked={chosen.includes(permission)}
              onChange={(isChosen) => onChange(withChosen(draft, permission, isChosen))}
            />
          ))}
        </CheckGroup>
      )}
    </Stack>
  );
};

/** The fields of a service account. */
export const AccountFields = ({ draft, onChange, organization }: AccountFieldsProps) => (
  <Stack>
    <TextField
      label={ACCOUNT_LABELS.name}
      value={draft.name}
      onChange={(name) => onChange({ name })}
      placeholder="nightly-report"
      maxLength={100}
      autoComplete="off"
      autoFocus
    />
    <TextField
      label={ACCOUNT_LABELS.description}
      value={draft.description}
      onChange={(description) => onChange({ description })}
      maxLength={500}
      autoComplete="off"
    />
    <SelectField
      label={ACCOUNT_LABELS.role}
      value={draft.role}
      onChange={(role) => onChange(withRole(draft, role))}
      choices={rolesIn(organization)}
    />
    <PermissionFields draft={draft} onChange={onChange} />
  </Stack>
);
