import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField } from '../../design/controls/fields.tsx';
import { Time } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { SecretDialog } from '../../design/feedback/secret-dialog.tsx';
import { HOUR_S } from '../../design/format/units.ts';
import { Form } from '../../design/forms/form.tsx';
import type { Webhook } from '../webhooks/webhook-draft.ts';

const OVERLAPS = [
  [String(24 * HOUR_S), 'For 24 hours'],
  [String(HOUR_S), 'For one hour'],
  [String(7 * 24 * HOUR_S), 'For 7 days'],
  ['0', 'Stop now (it may have leaked)'],
] as const;

interface RotateWebhookProps {
  webhook: Webhook;
  organization: string | undefined;
  onClose: () => void;
}

/** Gives a webhook a new secret, and shows it once. */
export const RotateWebhook = ({ webhook, organization, onClose }: RotateWebhookProps) => {
  const [overlap, setOverlap] = useState<string>(OVERLAPS[0][0]);
  const [rotated, setRotated] = useState<{ secret: string; until: number | null; reading: Promise<void> }>();
  const { id, version, previous_secret_until } = webhook;
  if (rotated)
    return (
      <SecretDialog title="New webhook secret" secret={rotated.secret} onClose={() => void rotated.reading.then(onClose)}>
        {rotated.until === null ? (
          <p>The previous secret no longer signs.</p>
        ) : (
          <p>
            Until <Time seconds={rotated.until} />, each request is also signed with the previous secret.
          </p>
        )}
      </SecretDialog>
    );
  return (
    <Dialog title="Rotate secret" onClose={onClose}>
      <Form
        submitLabel="Rotate secret"
        onCancel={onClose}
        onSubmit={async () => {
          const { secret, previous_secret_until: until } = await request('POST /v1/webhooks/{id}/rotate', {
            parameters: { id },
            query: { organization },
            body: { overlap_seconds: Number(overlap) },
            version,
          });
          setRotated({ secret, until, reading: readAgain('/v1/webhooks') });
        }}
      >
        <p>You get a new secret. Replace the current one with it in your receiver.</p>
        {previous_secret_until !== null && (
          <Notice tone="warn">
            You have already rotated this secret, and the earlier one signs until <Time seconds={previous_secret_until} />. If you rotate
            again, it stops signing now.
          </Notice>
        )}
        <SelectField label="Keep signing with the current secret" value={overlap} onChange={setOverlap} choices={OVERLAPS} />
      </Form>
    </Dialog>
  );
};
