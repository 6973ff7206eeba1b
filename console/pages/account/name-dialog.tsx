import type { Me } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';

type NameDraft = { name: string };

const draftOf = ({ name }: Pick<Me, 'name'>): NameDraft => ({ name: name ?? '' });

/** Changes the user's own name. */
export const NameDialog = ({ me, onClose }: { me: Me; onClose: () => void }) => (
  <Dialog title="Change your name" onClose={onClose}>
    <VersionedForm
      thing={me}
      draftOf={draftOf}
      labels={{ name: 'Name' }}
      read={() => request('GET /v1/me', {})}
      submitLabel="Save name"
      onCancel={onClose}
      save={async ({ name }, { version }) => {
        await request('PATCH /v1/me', { body: { name: name.trim() || null }, version });
        await readAgain('/v1/me', '/v1/users');
        onClose();
      }}
    >
      {({ name }, change) => <TextField label="Name" value={name} onChange={(text) => change({ name: text })} maxLength={100} autoFocus />}
    </VersionedForm>
  </Dialog>
);
