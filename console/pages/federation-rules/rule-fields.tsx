import { CheckField, SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { ShortFields, Stack } from '../../design/layout/layout.tsx';
import { faultsOfRule, RULE_LABELS, type RuleDraft } from './rule-draft.ts';

interface RuleFieldsProps {
  draft: RuleDraft;
  onChange: (changes: Partial<RuleDraft>) => void;
}

/** The tokens that a rule accepts. */
export const ConditionFields = ({ draft, onChange }: RuleFieldsProps) => (
  <>
    <TextField
      label={RULE_LABELS.subject}
      value={draft.subject}
      onChange={(subject) => onChange({ subject })}
      hint="The sub claim, or a prefix followed by *. Leave empty to skip the check."
      isCode
      autoComplete="off"
    />
    <TextArea
      label={RULE_LABELS.claims}
      value={draft.claims}
      onChange={(claims) => onChange({ claims })}
      hint="One per line, as name = value. Each claim must match exactly."
      fault={faultsOfRule(draft).claims}
      isCode
    />
  </>
);

const KeyLimitFields = ({ draft, onChange }: RuleFieldsProps) => {
  const faults = faultsOfRule(draft);
  return (
    <ShortFields>
      {(['keySeconds', 'keyRequestsPerMinute', 'keyTokensPerMinute', 'keyConcurrency'] as const).map((name) => (
        <TextField
          key={name}
          label={RULE_LABELS[name]}
          value={draft[name]}
          onChange={(text) => onChange({ [name]: text })}
          fault={faults[name]}
          inputMode="numeric"
          placeholder="default"
        />
      ))}
      <TextField
        label={RULE_LABELS.keyBudget}
        value={draft.keyBudget}
        onChange={(keyBudget) => onChange({ keyBudget })}
        fault={faults.keyBudget}
        inputMode="decimal"
        placeholder="no limit"
      />
    </ShortFields>
  );
};

/** The API keys that jobs of a rule can get. */
export const KeySettingFields = ({ draft, onChange }: RuleFieldsProps) => (
  <Stack>
    <CheckField
      label={RULE_LABELS.givesKeys}
      hint="For jobs that call models. Keys expire automatically. Limits and the budget apply to each key separately."
      checked={draft.givesKeys}
      onChange={(givesKeys) => onChange({ givesKeys })}
    />
    {draft.givesKeys && (
      <>
        <SelectField
          label={RULE_LABELS.keyScope}
          value={draft.keyScope}
          onChange={(keyScope) => onChange({ keyScope })}
          choices={[
            ['serverless', 'Shared models'],
            ['on_demand', 'Your deployments'],
          ]}
        />
        <TextField
          label={RULE_LABELS.keyModels}
          value={draft.keyModels}
          onChange={(keyModels) => onChange({ keyModels })}
          placeholder="all models"
          hint="Separated by commas."
          isCode
        />
        <KeyLimitFields draft={draft} onChange={onChange} />
      </>
    )}
  </Stack>
);

/** The audience and the description of a rule. */
export const FurtherFields = ({ draft, onChange }: RuleFieldsProps) => (
  <>
    <TextField
      label={RULE_LABELS.audience}
      value={draft.audience}
      onChange={(audience) => onChange({ audience })}
      hint="The aud claim. With the address of this control plane, the job's tokens can't be used elsewhere."
      isCode
      autoComplete="off"
    />
    <TextField
      label={RULE_LABELS.description}
      value={draft.description}
      onChange={(description) => onChange({ description })}
      maxLength={200}
      autoComplete="off"
    />
  </>
);
