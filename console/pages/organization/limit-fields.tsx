import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { ownCurrency } from '../../design/format/currency.ts';
import { ShortFields, Stack } from '../../design/layout/layout.tsx';
import { faultsOfLimits, LIMITS_LABELS, type LimitsDraft } from './limits-draft.ts';

interface LimitFieldsProps {
  draft: LimitsDraft;
  onChange: (changes: Partial<LimitsDraft>) => void;
  disabled?: boolean;
}

const NUMBERS = ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const;

/** The limits that all API keys of an organization share. */
export const LimitFields = ({ draft, onChange, disabled = false }: LimitFieldsProps) => {
  const faults = faultsOfLimits(draft);
  return (
    <Stack>
      <ShortFields>
        {NUMBERS.map((name) => (
          <TextField
            key={name}
            label={LIMITS_LABELS[name]}
            hint={name === 'concurrency' ? "Leave empty for the platform's default." : 'Leave empty for no limit.'}
            fault={faults[name]}
            value={draft[name]}
            onChange={(text) => onChange({ [name]: text })}
            inputMode="numeric"
            disabled={disabled}
          />
        ))}
        <TextField
          label={LIMITS_LABELS.monthBudget}
          hint={`In ${ownCurrency().code}. Leave empty for no budget.`}
          fault={faults.monthBudget}
          value={draft.monthBudget}
          onChange={(monthBudget) => onChange({ monthBudget })}
          inputMode="decimal"
          disabled={disabled}
        />
      </ShortFields>
      <CheckField
        label={LIMITS_LABELS.prepaid}
        hint="Its requests are rejected when the credit is used up. Otherwise, it is invoiced."
        checked={draft.prepaid}
        onChange={(prepaid) => onChange({ prepaid })}
        disabled={disabled}
      />
    </Stack>
  );
};
