import { useState } from 'react';
import { useLocation } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { ActionButton } from '../../design/forms/action-button.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { changesOfWebhook, draftOfWebhook, isComplete, WEBHOOK_LABELS, type Webhook } from '../webhooks/webhook-draft.ts';
import { WebhookFields } from '../webhooks/webhook-fields.tsx';
import { RotateWebhook } from './rotate-webhook.tsx';

interface WebhookProps {
  webhook: Webhook;
  organization: string | undefined;
}

const readNow = () => readAgain('/v1/webhooks', '/v1/summary');

const EditWebhook = ({ webhook, organization, onClose }: WebhookProps & { onClose: () => void }) => {
  const place = { parameters: { id: webhook.id }, query: { organization } };
  return (
    <Dialog title="Edit webhook" onClose={onClose}>
      <VersionedForm
        thing={webhook}
        draftOf={draftOfWebhook}
        labels={WEBHOOK_LABELS}
        read={() => request('GET /v1/webhooks/{id}', place)}
        submitLabel="Save webhook"
        onCancel={onClose}
        canSubmit={(draft, base) => isComplete(draft) && Object.keys(changesOfWebhook(draft, base)).length > 0}
        save={async (draft, base) => {
          await request('PATCH /v1/webhooks/{id}', { ...place, body: changesOfWebhook(draft, base), version: base.version });
          await readNow();
          onClose();
        }}
      >
        {(draft, change) => <WebhookFields draft={draft} onChange={change} />}
      </VersionedForm>
    </Dialog>
  );
};

const DeleteWebhook = ({ webhook: { id, url, version }, organization, onClose }: WebhookProps & { onClose: () => void }) => {
  const [, navigate] = useLocation();
  return (
    <Confirm
      title="Delete webhook"
      action="Delete webhook"
      onClose={onClose}
      onConfirm={async () => {
        await request('DELETE /v1/webhooks/{id}', { parameters: { id }, query: { organization }, version });
        navigate(`/webhooks${organization ? `?organization=${organization}` : ''}`);
        void readNow();
      }}
    >
      <p>Sluice stops sending events to {url}, including those waiting for a retry. This can't be undone.</p>
    </Confirm>
  );
};

type Action = 'edit' | 'rotate' | 'delete';

interface WebhookActionsProps extends WebhookProps {
  /** @param event the event of a test that was sent */
  onTest: (event: string) => void;
}

/** The actions on a webhook. */
export const WebhookActions = ({ webhook, organization, onTest }: WebhookActionsProps) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<{ action: Action; webhook: Webhook }>();
  if (!can(me, 'webhooks:write')) return null;
  const { id, enabled, version } = webhook;
  const place = { parameters: { id }, query: { organization } };
  const close = () => setOpened(undefined);
  const open = (action: Action) => () => setOpened({ action, webhook });
  const test = async () => {
    onTest((await request('POST /v1/webhooks/{id}/test', place)).event);
    await readNow();
  };
  const pause = () => request('PATCH /v1/webhooks/{id}', { ...place, body: { enabled: !enabled }, version }).finally(readNow);
  return (
    <>
      {enabled && <ActionButton label="Send test event" look="primary" onAct={test} />}
      <Button onClick={open('edit')}>Edit webhook</Button>
      <Button onClick={open('rotate')}>Rotate secret</Button>
      <ActionButton label={enabled ? 'Pause webhook' : 'Resume webhook'} onAct={pause} />
      <Button look="danger" onClick={open('delete')}>
        Delete webhook
      </Button>
      {opened?.action === 'edit' && <EditWebhook webhook={opened.webhook} organization={organization} onClose={close} />}
      {opened?.action === 'rotate' && <RotateWebhook webhook={opened.webhook} organization={organization} onClose={close} />}
      {opened?.action === 'delete' && <DeleteWebhook webhook={opened.webhook} organization={organization} onClose={close} />}
    </>
  );
};
