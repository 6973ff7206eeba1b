import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { percentagesIn } from './alerts.ts';
import { changesOfAlerts, draftOfAlerts, ALERTS_LABELS as LABELS, type Profile } from './profile-draft.ts';

interface EditAlertsProps {
  profile: Profile;
  query: { organization?: string };
  onClose: () => void;
}

const faultOf = (text: string): string | undefined =>
  percentagesIn(text) ? undefined : 'Enter up to 10 whole percentages from 1 to 100, separated by commas.';

/** Adds, changes and removes alerts. */
export const EditAlerts = ({ profile, query, onClose }: EditAlertsProps) => (
  <Dialog title="Edit alerts" onClose={onClose}>
    <VersionedForm
      thing={profile}
      draftOf={draftOfAlerts}
      labels={LABELS}
      read={() => request('GET /v1/billing/profile', { query })}
      canSubmit={(draft, base) => changesOfAlerts(draft, base) !== undefined}
      save={async (draft, base) => {
        await request('PATCH /v1/billing/profile', { query, body: changesOfAlerts(draft, base) ?? {}, version: base.version });
        await readAgain('/v1/billing/profile');
        onClose();
      }}
      submitLabel="Save alerts"
      onCancel={onClose}
    >
      {(draft, change) => (
        <>
          <p>The organization gets an alert at each of these percentages, such as 50, 80, 100. Leave empty for no alerts.</p>
          <TextField
            label={LABELS.budget}
            hint="Percentages of each budget: of the organization, its projects and its API keys."
            value={draft.budget}
            onChange={(budget) => change({ budget })}
            fault={faultOf(draft.budget)}
            autoFocus
          />
          <TextField
            label={LABELS.credit}
            hint="Percentages of the balance after the last grant."
            value={draft.credit}
            onChange={(credit) => change({ credit })}
            fault={faultOf(draft.credit)}
          />
        </>
      )}
    </VersionedForm>
  </Dialog>
);
