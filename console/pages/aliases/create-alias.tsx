import { useState } from 'react';
import { useLocation } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Form } from '../../design/forms/form.tsx';
import { aliasBodyOf, EMPTY_ALIAS, isAliasComplete } from './alias-draft.ts';
import { AliasFields } from './alias-fields.tsx';
import { aliasPath } from './alias-path.ts';

// An alias that doesn't exist has this version.
const NONE = 0;
const EXISTS = 412;

interface CreateAliasProps {
  /** For users of the platform; null: an alias for all. */
  organization: string | null;
  onClose: () => void;
}

/** Creates an alias, and opens its page. */
export const CreateAlias = ({ organization, onClose }: CreateAliasProps) => {
  const [alias, setAlias] = useState('');
  const [draft, setDraft] = useState(EMPTY_ALIAS);
  const [, navigate] = useLocation();
  return (
    <Dialog title="Create alias" onClose={onClose}>
      <Form
        submitLabel="Create alias"
        canSubmit={alias.trim() !== '' && isAliasComplete(draft)}
        onCancel={onClose}
        onSubmit={async () => {
          const created = await request('PUT /v1/model-aliases/{alias+}', {
            parameters: { alias: alias.trim() },
            body: aliasBodyOf(draft, organization),
            version: NONE,
          });
          await readAgain('/v1/model-aliases');
          navigate(aliasPath(created));
        }}
        explain={({ status }) =>
          status === EXISTS && (
            <Notice tone="warn">An alias with this name already exists. Choose another name, or edit the existing alias.</Notice>
          )
        }
      >
        <TextField
          label="Alias"
          value={alias}
          onChange={setAlias}
          hint="The name that requests send as model, such as assistant. It must not be the name of an existing model."
          autoFocus
          isCode
        />
        <AliasFields draft={draft} onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))} organization={organization} />
      </Form>
    </Dialog>
  );
};
