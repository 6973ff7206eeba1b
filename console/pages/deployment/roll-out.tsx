import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { ShortFields } from '../../design/layout/layout.tsx';
import type { Deployment } from '../deployments/deployment-state.ts';
import { COMPARED, ROLLOUT_LABELS, type RolloutDraft, rolloutChange, rolloutDraftOf, rolloutFaults } from './settings-draft.ts';

const SHARES = [
  [COMPARED, 'None yet: a copy of 10% of requests is sent to it, to compare responses'],
  ['100', '100%: replace the old generation'],
  ['50', '50%, alongside the old generation'],
  ['10', '10%, alongside the old generation'],
  ['1', '1%, alongside the old generation'],
] as const;

interface FieldsProps {
  draft: RolloutDraft;
  /** Only texts can be compared. */
  isText: boolean;
  onChange: (changes: Partial<RolloutDraft>) => void;
}

const Fields = ({ draft, isText, onChange }: FieldsProps) => {
  const { data } = useRead('GET /v1/runtimes', {});
  const faults = rolloutFaults(draft);
  const available = data?.data.filter(({ status }) => status === 'available').map(({ id }) => id) ?? [];
  const runtimes = available.includes(draft.runtime) ? available : [draft.runtime, ...available];
  return (
    <>
      <SelectField
        label={ROLLOUT_LABELS.runtime}
        value={draft.runtime}
        onChange={(runtime) => onChange({ runtime })}
        choices={runtimes.map((id) => [id, id] as const)}
      />
      <TextField label={ROLLOUT_LABELS.model} value={draft.model} onChange={(model) => onChange({ model })} isCode />
      <ShortFields>
        <TextField
          label={ROLLOUT_LABELS.instanceTypes}
          value={draft.instanceTypes}
          onChange={(instanceTypes) => onChange({ instanceTypes })}
          fault={faults.instanceTypes}
          isCode
        />
        <TextField
          label={ROLLOUT_LABELS.accelerators}
          value={draft.accelerators}
          onChange={(accelerators) => onChange({ accelerators })}
          fault={faults.accelerators}
          inputMode="numeric"
        />
      </ShortFields>
      <TextArea
        label={ROLLOUT_LABELS.environment}
        value={draft.environment}
        onChange={(environment) => onChange({ environment })}
        fault={faults.environment}
        hint="One NAME=value per line."
        isCode
      />
      {isText && (
        <ShortFields>
          <TextField
            label={ROLLOUT_LABELS.adapterRank}
            value={draft.adapterRank}
            onChange={(adapterRank) => onChange({ adapterRank })}
            fault={faults.adapterRank}
            placeholder="16"
            inputMode="numeric"
            hint="Leave empty to load no adapters."
          />
          <TextField
            label={ROLLOUT_LABELS.adaptersLoaded}
            value={draft.adaptersLoaded}
            onChange={(adaptersLoaded) => onChange({ adaptersLoaded })}
            fault={faults.adaptersLoaded}
            inputMode="numeric"
            hint="Requests for other adapters wait for a free place."
          />
        </ShortFields>
      )}
      <SelectField
        label={ROLLOUT_LABELS.traffic}
        value={draft.traffic}
        onChange={(traffic) => onChange({ traffic })}
        choices={isText ? SHARES : SHARES.filter(([share]) => share !== COMPARED)}
        hint="Applies once it is ready. Later, you complete the rollout or roll back."
      />
    </>
  );
};

/** Rolls out a change of what a deployment runs. */
export const RollOut = ({ deployment, onClose }: { deployment: Deployment; onClose: () => void }) => {
  const { id, name } = deployment;
  return (
    <Dialog title={`Roll out change of ${name}`} onClose={onClose}>
      <p>
        A new generation starts on its own instances. Both generations cost money until one of them is removed. Callers are not affected: if
        the new generation fails, all requests go to the old one.
      </p>
      <VersionedForm
        thing={deployment}
        draftOf={rolloutDraftOf}
        labels={ROLLOUT_LABELS}
        read={() => request('GET /v1/deployments/{id}', { parameters: { id } })}
        submitLabel="Roll out change"
        onCancel={onClose}
        canSubmit={(draft, base) => Object.keys(rolloutFaults(draft)).length === 0 && rolloutChange(draft, base) !== undefined}
        save={async (draft, base) => {
          const body = rolloutChange(draft, base);
          if (body) await request('PATCH /v1/deployments/{id}', { parameters: { id }, body, version: base.version });
          await readAgain('/v1/deployments');
          onClose();
        }}
      >
        {(draft, onChange) => <Fields draft={draft} isText={deployment.task === 'generate'} onChange={onChange} />}
      </VersionedForm>
    </Dialog>
  );
};
