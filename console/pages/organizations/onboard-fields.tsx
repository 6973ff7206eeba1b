import { TextField } from '../../design/controls/fields.tsx';
import { ownCurrency } from '../../design/format/currency.ts';
import { Disclosure, Stack } from '../../design/layout/layout.tsx';
import { LimitFields } from '../organization/limit-fields.tsx';
import { faultsOfOnboarding, type OnboardingDraft, type StepName } from './onboarding.ts';

interface OnboardFieldsProps {
  draft: OnboardingDraft;
  onChange: (changes: Partial<OnboardingDraft>) => void;
  /** Steps whose fields can't be changed any more. */
  fixed: ReadonlySet<StepName>;
}

/** The fields of a new organization. */
export const OnboardFields = ({ draft, onChange, fixed }: OnboardFieldsProps) => {
  const faults = faultsOfOnboarding(draft);
  return (
    <Stack>
      <TextField
        label="Organization"
        value={draft.name}
        onChange={(name) => onChange({ name })}
        maxLength={100}
        disabled={fixed.has('organization')}
        autoFocus
      />
      <TextField
        label="Owner's email"
        hint="The owner manages the organization and can invite others."
        fault={faults.email}
        type="email"
        value={draft.email}
        onChange={(email) => onChange({ email })}
        autoComplete="off"
        disabled={fixed.has('owner')}
      />
      <TextField
        label="First API key"
        hint="A name for the key, such as production. Leave empty if the owner creates one."
        value={draft.keyName}
        onChange={(keyName) => onChange({ keyName })}
        maxLength={100}
        disabled={fixed.has('api_key')}
      />
      <Disclosure title="Limits, credit and password">
        <Stack>
          <LimitFields draft={draft} onChange={onChange} disabled={fixed.has('limits')} />
          {draft.prepaid && (
            <TextField
              label={`Credit (${ownCurrency().symbol})`}
              hint="Leave empty to grant credit later."
              fault={faults.credit}
              value={draft.credit}
              onChange={(credit) => onChange({ credit })}
              inputMode="decimal"
              disabled={fixed.has('credit')}
            />
          )}
          <TextField
            label="Owner's temporary password"
            hint="At least 12 characters. You send it to the owner. Leave empty to send one by email."
            value={draft.temporaryPassword}
            onChange={(temporaryPassword) => onChange({ temporaryPassword })}
            autoComplete="off"
            isCode
            disabled={fixed.has('owner')}
          />
        </Stack>
      </Disclosure>
    </Stack>
  );
};
