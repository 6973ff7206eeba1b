import { useState } from 'react';
import { useLocation } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { ALIAS_LABELS, type Alias, aliasBodyOf, draftOfAlias, isAliasComplete } from '../aliases/alias-draft.ts';
import { AliasFields } from '../aliases/alias-fields.tsx';

interface DialogProps {
  alias: Alias;
  onClose: () => void;
}

/** Where an alias is read, changed and deleted. */
export const placeOf = ({ alias, organization }: Pick<Alias, 'alias' | 'organization'>) => ({
  parameters: { alias },
  query: organization === null ? {} : { organization },
});

const EditAlias = ({ alias, onClose }: DialogProps) => (
  <Dialog title={`Edit ${alias.alias}`} onClose={onClose}>
    <VersionedForm
      thing={alias}
      draftOf={draftOfAlias}
      labels={ALIAS_LABELS}
      read={() => request('GET /v1/model-aliases/{alias+}', placeOf(alias))}
      save={async (draft, { version }) => {
        const { parameters } = placeOf(alias);
        await request('PUT /v1/model-aliases/{alias+}', { parameters, body: aliasBodyOf(draft, alias.organization), version });
        await readAgain('/v1/model-aliases');
        onClose();
      }}
      submitLabel="Save alias"
      canSubmit={isAliasComplete}
      onCancel={onClose}
    >
      {(draft, change) => (
        <>
          {alias.split?.stopped_at && (
            <Notice tone="warn">The split has stopped. Changing its values starts it again; other changes leave it stopped.</Notice>
          )}
          <AliasFields draft={draft} onChange={change} organization={alias.organization} />
        </>
      )}
    </VersionedForm>
  </Dialog>
);

const DeleteAlias = ({ alias, onClose }: DialogProps) => {
  const [, navigate] = useLocation();
  return (
    <Confirm
      title={`Delete ${alias.alias}`}
      action="Delete alias"
      typed={alias.alias}
      onConfirm={async () => {
        await request('DELETE /v1/model-aliases/{alias+}', { ...placeOf(alias), version: alias.version });
        await readAgain('/v1/model-aliases');
        navigate('/aliases');
      }}
      onClose={onClose}
    >
      <p>Within 30 seconds, requests to {alias.alias} return 404. The models themselves don't change.</p>
    </Confirm>
  );
};

const DIALOGS = { edit: EditAlias, delete: DeleteAlias } as const;

interface Opened {
  name: keyof typeof DIALOGS;
  alias: Alias;
}

/** Changes or deletes an alias. */
export const AliasActions = ({ alias }: { alias: Alias }) => {
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<Opened>();
  const OpenDialog = opened && DIALOGS[opened.name];
  return (
    <>
      <Button onClick={() => setOpened({ name: 'edit', alias })}>Edit alias</Button>
      <Button look="danger" onClick={() => setOpened({ name: 'delete', alias })}>
        Delete alias
      </Button>
      {opened && OpenDialog && <OpenDialog alias={opened.alias} onClose={() => setOpened(undefined)} />}
    </>
  );
};
