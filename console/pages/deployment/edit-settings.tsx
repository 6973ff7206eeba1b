import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { ShortFields } from '../../design/layout/layout.tsx';
import { idleChoices } from '../deploy/deployment-draft.ts';
import type { Deployment } from '../deployments/deployment-state.ts';
import { WINDOWS_HINT } from '../deployments/windows.ts';
import { SETTINGS_LABELS, type SettingsDraft, settingsChange, settingsFaults, settingsOf, sizesOf } from './settings-draft.ts';

const COUNTS = ['minCopies', 'maxCopies', 'concurrency'] as const;

interface FieldsProps {
  deployment: Deployment;
  draft: SettingsDraft;
  onChange: (changes: Partial<SettingsDraft>) => void;
}

const Numbers = ({ names, deployment, draft, onChange }: FieldsProps & { names: readonly (keyof SettingsDraft)[] }) => (
  <ShortFields>
    {names.map((name) => (
      <TextField
        key={name}
        label={SETTINGS_LABELS[name]}
        value={draft[name]}
        onChange={(text) => onChange({ [name]: text })}
        fault={settingsFaults(draft, deployment)[name]}
        inputMode="numeric"
      />
    ))}
  </ShortFields>
);

/** Changes the settings of a deployment that apply without a new generation. */
export const EditSettings = ({ deployment, onClose }: { deployment: Deployment; onClose: () => void }) => {
  const { id, name } = deployment;
  return (
    <Dialog title={`Change settings of ${name}`} onClose={onClose}>
      <p>Changes apply immediately. Added copies cost more as soon as they start; removing copies can interrupt requests in progress.</p>
      <VersionedForm
        thing={deployment}
        draftOf={settingsOf}
        labels={SETTINGS_LABELS}
        read={() => request('GET /v1/deployments/{id}', { parameters: { id } })}
        submitLabel="Save settings"
        onCancel={onClose}
        canSubmit={(draft, base) =>
          Object.keys(settingsFaults(draft, base)).length === 0 && Object.keys(settingsChange(draft, base)).length > 0
        }
        save={async (draft, base) => {
          const { version } = base;
          await request('PATCH /v1/deployments/{id}', { parameters: { id }, body: settingsChange(draft, base), version });
          await readAgain('/v1/deployments', '/v1/models');
          onClose();
        }}
      >
        {(draft, onChange) => (
          <>
            <Numbers names={COUNTS} deployment={deployment} draft={draft} onChange={onChange} />
            <SelectField label="Sleeps" value={draft.idle} onChange={(idle) => onChange({ idle })} choices={idleChoices(draft.idle)} />
            <TextArea
              label={SETTINGS_LABELS.windows}
              value={draft.windows}
              onChange={(windows) => onChange({ windows })}
              fault={settingsFaults(draft, deployment).windows}
              hint={WINDOWS_HINT}
              rows={3}
            />
            <Numbers names={sizesOf(deployment)} deployment={deployment} draft={draft} onChange={onChange} />
          </>
        )}
      </VersionedForm>
    </Dialog>
  );
};
