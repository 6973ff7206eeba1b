import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { type ApiKey, changesOfKey, draftOfKey, faultsOf, KEY_LABELS } from '../api-keys/key-draft.ts';
import { KeyFields } from '../api-keys/key-fields.tsx';
import { rangeOfMonth } from './key-usage.ts';
import { effectsOf } from './limit-effects.ts';

/** Changes a key's name, limits and restrictions. */
export const EditKey = ({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) => {
  const { id, name } = apiKey;
  const me = useSignedIn();
  const query = rangeOfMonth(Date.now() / 1_000);
  const usage = useRead('GET /v1/api-keys/{id}/usage', { parameters: { id }, query }, { enabled: can(me, 'usage:read') });
  return (
    <Dialog title={`Edit ${name}`} onClose={onClose}>
      <VersionedForm
        thing={apiKey}
        draftOf={draftOfKey}
        labels={KEY_LABELS}
        read={() => request('GET /v1/api-keys/{id}', { parameters: { id } })}
        submitLabel="Save API key"
        onCancel={onClose}
        canSubmit={(draft, base) =>
          draft.name.trim() !== '' && Object.keys(faultsOf(draft, false)).length === 0 && Object.keys(changesOfKey(draft, base)).length > 0
        }
        save={async (draft, base) => {
          await request('PATCH /v1/api-keys/{id}', { parameters: { id }, body: changesOfKey(draft, base), version: base.version });
          await readAgain('/v1/api-keys');
          onClose();
        }}
      >
        {(draft, change) => (
          <KeyFields
            organization={isOfPlatform(me) ? apiKey.organization : undefined}
            draft={draft}
            onChange={change}
            hints={usage.data ? effectsOf(draft, usage.data, query.to) : {}}
          />
        )}
      </VersionedForm>
    </Dialog>
  );
};
