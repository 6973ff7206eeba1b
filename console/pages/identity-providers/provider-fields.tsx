import { CheckField, SelectField, TextField } from '../../design/controls/fields.tsx';
import { Disclosure, Stack } from '../../design/layout/layout.tsx';
import { GIVEN_ROLES, MappingFields } from './mapping-fields.tsx';
import { faultsOfProvider, PROVIDER_LABELS, type ProviderDraft } from './provider-draft.ts';

interface ProviderFieldsProps {
  draft: ProviderDraft;
  onChange: (changes: Partial<ProviderDraft>) => void;
}

/** The client that Sluice is for the provider. @param hasSecret a stored secret stays if no other one is typed */
export const ClientFields = ({ draft, onChange, hasSecret = false }: ProviderFieldsProps & { hasSecret?: boolean }) => (
  <>
    <TextField
      label={PROVIDER_LABELS.clientId}
      value={draft.clientId}
      onChange={(clientId) => onChange({ clientId })}
      isCode
      autoComplete="off"
    />
    <TextField
      label={PROVIDER_LABELS.clientSecret}
      type="password"
      value={draft.clientSecret}
      onChange={(clientSecret) => onChange({ clientSecret })}
      hint={hasSecret ? 'Leave empty to keep the stored secret.' : 'Leave empty only for a public client.'}
      isCode
      autoComplete="off"
    />
  </>
);

/** The domains of the users, and the roles that they get. */
export const UserFields = ({ draft, onChange }: ProviderFieldsProps) => (
  <>
    <TextField
      label={PROVIDER_LABELS.domains}
      value={draft.domains}
      onChange={(domains) => onChange({ domains })}
      hint="Domains of your users' email addresses, separated by commas. You verify them afterwards."
      placeholder="example.com"
      isCode
      autoComplete="off"
    />
    <TextField
      label={PROVIDER_LABELS.roleClaim}
      value={draft.roleClaim}
      onChange={(roleClaim) => onChange({ roleClaim })}
      hint="The claim that lists a user's groups. Leave empty to manage roles here, under Users."
      isCode
      autoComplete="off"
    />
    {draft.roleClaim !== '' && <MappingFields value={draft.mapping} onChange={(mapping) => onChange({ mapping })} />}
    <SelectField
      label={PROVIDER_LABELS.defaultRole}
      value={draft.defaultRole}
      onChange={(defaultRole) => onChange({ defaultRole })}
      choices={[['', 'None: only invited users can sign in'], ...GIVEN_ROLES]}
    />
  </>
);

/** The settings that most providers need no other value of. */
export const FurtherProviderFields = ({ draft, onChange }: ProviderFieldsProps) => (
  <Disclosure title="Sessions, scopes and addresses">
    <Stack>
      <TextField
        label={PROVIDER_LABELS.sessionHours}
        value={draft.sessionHours}
        onChange={(sessionHours) => onChange({ sessionHours })}
        fault={faultsOfProvider(draft).sessionHours}
        inputMode="numeric"
      />
      <TextField
        label={PROVIDER_LABELS.scopes}
        value={draft.scopes}
        onChange={(scopes) => onChange({ scopes })}
        fault={faultsOfProvider(draft).scopes}
        isCode
      />
      <TextField
        label={PROVIDER_LABELS.requiredAcr}
        value={draft.requiredAcr}
        onChange={(requiredAcr) => onChange({ requiredAcr })}
        hint="Leave empty for any. Otherwise the ID token must have one of these values, for example to require a second factor."
        isCode
      />
      <CheckField
        label={PROVIDER_LABELS.addressesAreManaged}
        hint="Only for providers that don't send email_verified, such as Entra ID, and only if your organization controls all these addresses."
        checked={draft.addressesAreManaged}
        onChange={(addressesAreManaged) => onChange({ addressesAreManaged })}
      />
      <CheckField
        label={PROVIDER_LABELS.deactivationRevokesKeys}
        hint="Otherwise the API keys of deactivated users keep working."
        checked={draft.deactivationRevokesKeys}
        onChange={(deactivationRevokesKeys) => onChange({ deactivationRevokesKeys })}
      />
    </Stack>
  </Disclosure>
);
