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
import type { ApiKey } from './key-draft.ts';

const OVERLAPS = [
  [String(24 * HOUR_S), 'for 24 hours'],
  [String(HOUR_S), 'for one hour'],
  [String(7 * 24 * HOUR_S), 'for 7 days'],
  ['0', 'no longer (it may have leaked)'],
] as const;

interface KeyDialogProps {
  apiKey: ApiKey;
  onClose: () => void;
}

/** Gives a key a new secret, and shows it once. */
export const RotateKey = ({ apiKey, onClose }: KeyDialogProps) => {
  const [overlap, setOverlap] = useState<string>(OVERLAPS[0][0]);
  const [rotated, setRotated] = useState<{ secret: string; until: number | null; reading: Promise<void> }>();
  const { id, name, version, previous_secret_until } = apiKey;
  if (rotated)
    return (
      <SecretDialog title={`New secret for ${name}`} secret={rotated.secret} onClose={() => void rotated.reading.then(onClose)}>
        <p>
          The previous secret{' '}
          {rotated.until === null ? (
            'no longer works.'
          ) : (
            <>
              works until <Time seconds={rotated.until} />.
            </>
          )}
        </p>
      </SecretDialog>
    );
  return (
    <Dialog title={`Rotate secret of ${name}`} onClose={onClose}>
      <Form
        submitLabel="Rotate secret"
        onCancel={onClose}
        onSubmit={async () => {
          const { secret, previous_secret_until: until } = await request('POST /v1/api-keys/{id}/rotate', {
            parameters: { id },
            body: { overlap_seconds: Number(overlap) },
            version,
          });
          setRotated({ secret, until, reading: readAgain('/v1/api-keys') });
        }}
      >
        <p>The key keeps its id, limits and usage. You get a new secret. Replace the current one everywhere it is used.</p>
        {previous_secret_until !== null && previous_secret_until * 1_000 > Date.now() && (
          <Notice tone="warn">
            This key was rotated recently, and its previous secret works until <Time seconds={previous_secret_until} />. If you rotate
            again, that secret stops working immediately.
          </Notice>
        )}
        <SelectField label="The current secret works" value={overlap} onChange={setOverlap} choices={OVERLAPS} />
      </Form>
    </Dialog>
  );
};
