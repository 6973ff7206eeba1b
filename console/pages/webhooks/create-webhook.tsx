import { useState } from 'react';
import { useLocation } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { SecretDialog } from '../../design/feedback/secret-dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { VerifySignature } from './verify-signature.tsx';
import { EMPTY_WEBHOOK, isComplete, newWebhookOf } from './webhook-draft.ts';
import { WebhookFields } from './webhook-fields.tsx';
import { addressOfWebhook } from './webhook-state.tsx';

interface CreateWebhookProps {
  /** For users of the platform. */
  organization: string | undefined;
  onClose: () => void;
}

/** Creates a webhook, shows its secret once, then opens its page. */
export const CreateWebhook = ({ organization, onClose }: CreateWebhookProps) => {
  const [draft, setDraft] = useState(EMPTY_WEBHOOK);
  const [created, setCreated] = useState<ReplyBody<'POST /v1/webhooks'>>();
  const [, navigate] = useLocation();
  if (created)
    return (
      <SecretDialog title="Webhook secret" secret={created.secret} onClose={() => navigate(addressOfWebhook(created.id, organization))}>
        <VerifySignature />
      </SecretDialog>
    );
  return (
    <Dialog title="Create webhook" onClose={onClose}>
      <Form
        submitLabel="Create webhook"
        canSubmit={isComplete(draft)}
        onCancel={onClose}
        onSubmit={async () => {
          setCreated(await request('POST /v1/webhooks', { query: { organization }, body: newWebhookOf(draft) }));
          void readAgain('/v1/webhooks', '/v1/summary');
        }}
      >
        <WebhookFields draft={draft} onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))} />
      </Form>
    </Dialog>
  );
};
