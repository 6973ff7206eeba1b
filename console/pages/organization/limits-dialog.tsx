import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { LimitFields } from './limit-fields.tsx';
import { areSameLimits, draftOfLimits, faultsOfLimits, LIMITS_LABELS, limitsOf, type Organization } from './limits-draft.ts';

/** Sets the limits that all API keys of an organization share. */
export const LimitsDialog = ({ organization, onClose }: { organization: Organization; onClose: () => void }) => {
  const { id, name } = organization;
  return (
    <Dialog title={`Set limits of ${name}`} onClose={onClose}>
      <p>All API keys of the organization share these limits. Changes apply from each key's next request.</p>
      <VersionedForm
        thing={organization}
        draftOf={draftOfLimits}
        labels={LIMITS_LABELS}
        read={() => request('GET /v1/organizations/{id}', { parameters: { id } })}
        submitLabel="Save limits"
        onCancel={onClose}
        canSubmit={(draft, base) => Object.keys(faultsOfLimits(draft)).length === 0 && !areSameLimits(draft, draftOfLimits(base))}
        save={async (draft, { version }) => {
          await request('PUT /v1/organizations/{id}/limits', { parameters: { id }, body: limitsOf(draft), version });
          await readAgain('/v1/organizations');
          onClose();
        }}
      >
        {(draft, change) => <LimitFields draft={draft} onChange={change} />}
      </VersionedForm>
    </Dialog>
  );
};
