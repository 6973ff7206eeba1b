import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { Choice } from '../../design/controls/choice.ts';
import { CheckField, CheckGroup, SelectField, TextArea } from '../../design/controls/fields.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { bodyOf, draftOf, LABELS, PATTERN_LABELS, PATTERN_NAMES, type Settings, type SettingsDraft } from './settings-draft.ts';

const RETENTIONS: readonly Choice[] = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
];

const OF_TOOLS: readonly Choice[] = [
  ['redact', 'Redact completely'],
  ['keep', 'Redact matches only'],
];

interface FieldsProps {
  draft: SettingsDraft;
  change: (changes: Partial<SettingsDraft>) => void;
}

const Patterns = ({ draft, change }: FieldsProps) => (
  <CheckGroup label="Redact in all text">
    {PATTERN_NAMES.map((name) => (
      <CheckField key={name} label={PATTERN_LABELS[name]} checked={draft[name]} onChange={(isOn) => change({ [name]: isOn })} />
    ))}
  </CheckGroup>
);

const Fields = ({ draft, change }: FieldsProps) => (
  <>
    <CheckField
      label={LABELS.enabled}
      hint="Applies from each API key's next request. Requests with the header x-sluice-log: off are never logged."
      checked={draft.enabled}
      onChange={(enabled) => change({ enabled })}
    />
    <SelectField
      label={LABELS.retention_days}
      hint="Content that is already logged keeps its retention."
      value={draft.retention_days}
      choices={RETENTIONS}
      onChange={(retention_days) => change({ retention_days })}
    />
    <Patterns draft={draft} change={change} />
    <SelectField
      label={LABELS.tool_arguments}
      value={draft.tool_arguments}
      choices={OF_TOOLS}
      onChange={(tool_arguments) => change({ tool_arguments })}
    />
    <TextArea
      label={LABELS.paths}
      hint="One per line, such as $.metadata or $.messages[*].name."
      value={draft.paths}
      onChange={(paths) => change({ paths })}
      spellCheck={false}
      isCode
    />
  </>
);

interface SettingsFormProps {
  settings: Settings;
  onSaved: () => void;
}

/** The settings of the payload log of an organization, or of an API key. */
export const SettingsForm = ({ settings, onSaved }: SettingsFormProps) => {
  const query = settings.api_key === null ? {} : { api_key: settings.api_key };
  return (
    <VersionedForm
      thing={settings}
      draftOf={draftOf}
      labels={LABELS}
      read={() => request('GET /v1/observability/payload-log', { query })}
      save={async (draft, { version }) => {
        await request('PUT /v1/observability/payload-log', { query, body: bodyOf(draft), version });
        await readAgain('/v1/observability/payload-log');
        onSaved();
      }}
      submitLabel="Save settings"
    >
      {(draft, change) => <Fields draft={draft} change={change} />}
    </VersionedForm>
  );
};
