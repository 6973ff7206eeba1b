import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { LastUsed } from '../../design/data/values.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import type { ApiKey } from './key-draft.ts';

/** Revokes a key for good. */
export const RevokeKey = ({ apiKey: { id, name, hint, last_used_at }, onClose }: { apiKey: ApiKey; onClose: () => void }) => (
  <Confirm
    title={`Revoke ${name}`}
    action="Revoke API key"
    typed={name}
    onClose={onClose}
    onConfirm={async () => {
      // Without a version: a key that has leaked must end, whatever else was changed.
      await request('DELETE /v1/api-keys/{id}', { parameters: { id } });
      await readAgain('/v1/api-keys', '/v1/summary');
    }}
  >
    <p>
      Requests with the secret {hint} are rejected from now on. This can't be undone. <LastUsed what="The key" seconds={last_used_at} />
    </p>
  </Confirm>
);
