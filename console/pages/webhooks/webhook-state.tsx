import { Chip } from '../../design/data/values.tsx';
import type { Webhook } from './webhook-draft.ts';

/** True if events are sent, false if someone paused it, and what the receiver did if that stopped it. */
export const WebhookState = ({ webhook: { enabled, disabled_reason } }: { webhook: Webhook }) => {
  if (enabled) return <Chip state="active" />;
  return (
    <Chip state={disabled_reason === 'gone' ? 'stopped: the receiver answered 410' : 'paused'} tone={disabled_reason ? 'bad' : 'warn'} />
  );
};

/** The path of a webhook's page. @param organization for users of the platform */
export const addressOfWebhook = (id: string, organization: string | undefined): string =>
  `/webhooks/${id}${organization ? `?organization=${organization}` : ''}`;
