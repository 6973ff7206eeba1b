import { can, useSignedIn } from '../../client/me.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { ownCurrency } from '../../design/format/currency.ts';
import { Disclosure, Note, ShortFields, Stack } from '../../design/layout/layout.tsx';
import { faultsOf, KEY_LABELS, type KeyDraft } from './key-draft.ts';
import { ProjectField } from './project-field.tsx';

interface KeyFieldsProps {
  draft: KeyDraft;
  onChange: (changes: Partial<KeyDraft>) => void;
  /** The organization of the key, for users of the platform. */
  organization: string | undefined;
  /** True: empty limits stand for the defaults. */
  isNew?: boolean;
  /** Texts below limits. */
  hints?: Partial<Record<keyof KeyDraft, string>>;
}

const RATES = [
  ['requestsPerMinute', '600'],
  ['tokensPerMinute', '200000'],
  ['concurrency', '32'],
] as const;
const BUDGETS = ['day', 'month', 'total'] as const;

const LimitFields = ({ draft, onChange, isNew = false, hints = {} }: Omit<KeyFieldsProps, 'organization'>) => {
  const faults = faultsOf(draft, isNew);
  return (
    <Stack>
      <ShortFields>
        {RATES.map(([name, byDefault]) => (
          <TextField
            key={name}
            label={KEY_LABELS[name]}
            value={draft[name]}
            onChange={(text) => onChange({ [name]: text })}
            fault={faults[name]}
            hint={hints[name]}
            inputMode="numeric"
            {...(isNew && { placeholder: byDefault })}
          />
        ))}
      </ShortFields>
      <ShortFields>
        {BUDGETS.map((name) => (
          <TextField
            key={name}
            label={`${KEY_LABELS[name]} (${ownCurrency().symbol})`}
            value={draft[name]}
            onChange={(text) => onChange({ [name]: text })}
            fault={faults[name]}
            hint={hints[name]}
            inputMode="decimal"
            placeholder="no budget"
          />
        ))}
      </ShortFields>
    </Stack>
  );
};

const USER_FIELDS = ['userRequestsPerMinute', 'userTokensPerMinute', 'userConcurrency', 'userMonth'] as const;

const UserLimitFields = ({ draft, onChange }: Pick<KeyFieldsProps, 'draft' | 'onChange'>) => {
  const faults = faultsOf(draft);
  return (
    <Stack>
      <ShortFields>
        {USER_FIELDS.map((name) => (
          <TextField
            key={name}
            label={name === 'userMonth' ? `${KEY_LABELS[name]} (${ownCurrency().symbol})` : KEY_LABELS[name]}
            value={draft[name]}
            onChange={(text) => onChange({ [name]: text })}
            fault={faults[name]}
            inputMode={name === 'userMonth' ? 'decimal' : 'numeric'}
            placeholder="no limit"
          />
        ))}
      </ShortFields>
      <Note>
        Requests name their end user in the <code>user</code> field or the X-User-Id header; requests without one get a 400. A user who
        exceeds a limit gets a 429. Other users are not affected.
      </Note>
    </Stack>
  );
};

/** The fields of a key that can be changed later as well. */
export const KeyFields = ({ draft, onChange, organization, isNew = false, hints = {} }: KeyFieldsProps) => {
  const me = useSignedIn();
  return (
    <Stack>
      <TextField
        label={KEY_LABELS.name}
        value={draft.name}
        onChange={(name) => onChange({ name })}
        hint="What uses the key, such as an application."
        maxLength={100}
        autoFocus
      />
      <TextField
        label={KEY_LABELS.models}
        value={draft.models}
        onChange={(models) => onChange({ models })}
        hint="The models that the key can use, separated by commas. Leave empty for all models."
        isCode
      />
      <TextField
        label={KEY_LABELS.expires}
        type="datetime-local"
        value={draft.expires}
        onChange={(expires) => onChange({ expires })}
        hint="In your time zone. Leave empty for a key that doesn't expire."
      />
      {can(me, 'keys:limit') && (
        <Disclosure title="Limits and budgets" isOpen={!isNew}>
          <LimitFields draft={draft} onChange={onChange} isNew={isNew} hints={hints} />
        </Disclosure>
      )}
      {can(me, 'keys:limit') && (
        <Disclosure title="Limits per end user">
          <UserLimitFields draft={draft} onChange={onChange} />
        </Disclosure>
      )}
      {can(me, 'keys:limit') && can(me, 'projects:read') && (
        <ProjectField organization={organization} value={draft.project} onChange={(project) => onChange({ project })} />
      )}
      <CheckField
        label={KEY_LABELS.noContent}
        hint="Responses are not stored, and results are not kept under idempotency keys."
        checked={draft.noContent}
        onChange={(noContent) => onChange({ noContent })}
      />
      <CheckField
        label={KEY_LABELS.noFallback}
        hint="A request gets the model that it names or an error, even if that model has fallbacks."
        checked={draft.noFallback}
        onChange={(noFallback) => onChange({ noFallback })}
      />
    </Stack>
  );
};
