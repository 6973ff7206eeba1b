import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import type { Organization } from './limits-draft.ts';
import { changesOfOrganization, draftOfOrganization, ORGANIZATION_LABELS as LABELS } from './organization-draft.ts';

/** Changes an organization's name, and what it requires. */
export const EditOrganization = ({ organization, onClose }: { organization: Organization; onClose: () => void }) => {
  const { id, name: shown } = organization;
  return (
    <Dialog title={`Edit ${shown}`} onClose={onClose}>
      <VersionedForm
        thing={organization}
        draftOf={draftOfOrganization}
        labels={LABELS}
        read={() => request('GET /v1/organizations/{id}', { parameters: { id } })}
        submitLabel="Save organization"
        onCancel={onClose}
        canSubmit={(draft, base) =>
          draft.name.trim() !== '' && /^\d+$/.test(draft.freshLoginMinutes) && Object.keys(changesOfOrganization(draft, base)).length > 0
        }
        save={async (draft, base) => {
          const { version } = base;
          await request('PATCH /v1/organizations/{id}', { parameters: { id }, body: changesOfOrganization(draft, base), version });
          await readAgain('/v1/organizations', '/v1/me');
          onClose();
        }}
      >
        {({ name, requiresSecondFactor, freshLoginMinutes, storesNoContent }, change) => (
          <Stack>
            <TextField label={LABELS.name} value={name} onChange={(text) => change({ name: text })} maxLength={100} autoFocus />
            <TextField
              label={LABELS.freshLoginMinutes}
              hint="From 5 to 720. After this time, users must sign in again to change billing or access."
              value={freshLoginMinutes}
              onChange={(text) => change({ freshLoginMinutes: text })}
              inputMode="numeric"
            />
            <CheckField
              label={LABELS.requiresSecondFactor}
              hint="Users without one must set it up before they can do anything else."
              checked={requiresSecondFactor}
              onChange={(checked) => change({ requiresSecondFactor: checked })}
            />
            <CheckField
              label={LABELS.storesNoContent}
              hint="Applies to all of its API keys and overrides their own setting."
              checked={storesNoContent}
              onChange={(checked) => change({ storesNoContent: checked })}
            />
          </Stack>
        )}
      </VersionedForm>
    </Dialog>
  );
};
