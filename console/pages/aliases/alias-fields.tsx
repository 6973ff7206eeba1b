import { useId } from 'react';
import { useRead } from '../../client/queries.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Note, ShortFields, Stack } from '../../design/layout/layout.tsx';
import { ALIAS_LABELS, type AliasDraft, EMPTY_ALIAS, faultsOfAlias, shownFallbacks } from './alias-draft.ts';

const MAX_SUGGESTED = 100;
const DEFAULT_REQUESTS = '100';

interface AliasFieldsProps {
  draft: AliasDraft;
  onChange: (changes: Partial<AliasDraft>) => void;
  /** The organization of the alias; null: the user's own, or all for those of the platform. */
  organization: string | null;
}

const SplitFields = ({ draft, onChange, listId }: Omit<AliasFieldsProps, 'organization'> & { listId: string }) => {
  const faults = faultsOfAlias(draft);
  const field = (name: 'percent' | 'maxErrorPercent' | 'minRequests', placeholder?: string) => (
    <TextField
      label={ALIAS_LABELS[name]}
      value={draft[name]}
      onChange={(text) => onChange({ [name]: text })}
      fault={faults[name]}
      inputMode="numeric"
      {...(placeholder && { placeholder })}
    />
  );
  return (
    <Stack>
      <TextField
        label={ALIAS_LABELS.newModel}
        value={draft.newModel}
        onChange={(newModel) => onChange({ newModel })}
        list={listId}
        autoComplete="off"
        isCode
      />
      <ShortFields>
        {field('percent')}
        {field('maxErrorPercent', 'never')}
        {field('minRequests', DEFAULT_REQUESTS)}
      </ShortFields>
      <Note>
        Each caller and conversation stays with the same model. If the error rate of the new model exceeds your limit, the split stops
        automatically and the first model answers all callers again.
      </Note>
    </Stack>
  );
};

/** The settings of an alias. */
export const AliasFields = ({ draft, onChange, organization }: AliasFieldsProps) => {
  const listId = useId();
  const models = useRead('GET /v1/models', { query: { limit: MAX_SUGGESTED, ...(organization !== null && { organization }) } });
  return (
    <Stack>
      <TextField
        label={ALIAS_LABELS.model}
        value={draft.model}
        onChange={(model) => onChange({ model })}
        hint="The model that answers: a shared model, or a deployment on the on-demand host."
        list={listId}
        autoComplete="off"
        isCode
      />
      {shownFallbacks(draft).map((name, i) => (
        <TextField
          key={name}
          label={ALIAS_LABELS[name]}
          value={draft[name]}
          onChange={(text) => onChange({ [name]: text })}
          {...(i === 0 && {
            hint: "Answers at its own price while the model is asleep, has no capacity or fails. A sleeping deployment is woken and answers again once it is ready. Leave empty to use the model's own fallbacks.",
          })}
          list={listId}
          autoComplete="off"
          isCode
        />
      ))}
      <CheckField
        label={ALIAS_LABELS.hasSplit}
        hint="Try a new model with a share of your callers."
        checked={draft.hasSplit}
        onChange={(hasSplit) => onChange({ hasSplit, percent: draft.percent || EMPTY_ALIAS.percent })}
      />
      {draft.hasSplit && <SplitFields draft={draft} onChange={onChange} listId={listId} />}
      <datalist id={listId}>
        {models.data?.data.map(({ name, organization: of }) => (
          <option key={`${of} ${name}`} value={name}>
            {of === null ? 'shared model' : 'deployment'}
          </option>
        ))}
      </datalist>
    </Stack>
  );
};
