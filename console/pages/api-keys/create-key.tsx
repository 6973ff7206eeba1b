import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { useUrlState } from '../../client/url-state.ts';
import { SelectField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { SecretDialog } from '../../design/feedback/secret-dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { FirstCall } from './first-call.tsx';
import { type ApiKey, EMPTY_DRAFT, faultsOf, newKeyOf } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';

type CreatedKey = ReplyBody<'POST /v1/api-keys'>;

interface CreateKeyProps {
  /** For users of the platform. */
  organization: string | undefined;
  onClose: () => void;
}

/** Creates a key, then shows its secret once with code that uses it. */
export const CreateKey = ({ organization, onClose }: CreateKeyProps) => {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [scope, setScope] = useUrlState<ApiKey['scope']>('scope', 'serverless');
  const [created, setCreated] = useState<CreatedKey>();
  if (created)
    return (
      <SecretDialog title={`API key ${created.name}`} secret={created.secret} onClose={onClose}>
        <FirstCall apiKey={created} isWaiting />
      </SecretDialog>
    );
  return (
    <Dialog title="Create API key" onClose={onClose}>
      <Form
        submitLabel="Create API key"
        canSubmit={draft.name.trim() !== '' && Object.keys(faultsOf(draft)).length === 0}
        onCancel={onClose}
        onSubmit={async () => {
          setCreated(await request('POST /v1/api-keys', { body: newKeyOf(draft, scope, organization) }));
          void readAgain('/v1/api-keys', '/v1/summary');
        }}
      >
        <SelectField
          label="Scope"
          value={scope}
          onChange={setScope}
          choices={[
            ['serverless', 'Shared models'],
            ['on_demand', 'Your deployments'],
          ]}
        />
        <KeyFields organization={organization} draft={draft} onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))} isNew />
      </Form>
    </Dialog>
  );
};
