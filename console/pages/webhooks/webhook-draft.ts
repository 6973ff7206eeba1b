import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { eventTypesIn, type SelectableType } from './event-types.ts';

export type Webhook = ReplyBody<'GET /v1/webhooks/{id}'>;
export type NewWebhookBody = RequestBody<'POST /v1/webhooks'>;

/** The fields of a webhook as its form edits them. `types`: the chosen ones with spaces between them. */
export type WebhookDraft = { url: string; description: string; isAll: boolean; types: string };

export const WEBHOOK_LABELS = {
  url: 'URL',
  description: 'Description',
  isAll: 'All events, including those of later releases',
  types: 'Events',
} as const satisfies Record<keyof WebhookDraft, string>;

export const EMPTY_WEBHOOK: WebhookDraft = { url: '', description: '', isAll: true, types: '' };

/** A webhook as its form edits it. */
export const draftOfWebhook = ({ url, description, types }: Webhook): WebhookDraft => ({
  url,
  description: description ?? '',
  isAll: types === null,
  types: eventTypesIn(types?.join(' ') ?? '').join(' '),
});

const typesOf = ({ isAll, types }: WebhookDraft): SelectableType[] | null => (isAll ? null : eventTypesIn(types));

/** True if the draft has all that a webhook needs. */
export const isComplete = (draft: WebhookDraft): boolean => draft.url.trim() !== '' && typesOf(draft)?.length !== 0;

/** The body that creates a webhook. */
export const newWebhookOf = (draft: WebhookDraft): NewWebhookBody => ({
  url: draft.url.trim(),
  types: typesOf(draft),
  description: draft.description.trim() || null,
});

// An older tab of the console doesn't show the types of a later release, and so must not take them away.
const laterTypes = ({ types }: Webhook): SelectableType[] => (types ?? []).filter((type) => eventTypesIn(type).length === 0);

/** The body that changes a webhook: only what differs from it. */
export const changesOfWebhook = (draft: WebhookDraft, webhook: Webhook): RequestBody<'PATCH /v1/webhooks/{id}'> => {
  const opened = draftOfWebhook(webhook);
  const [types, before] = [typesOf(draft), typesOf(opened)];
  return {
    ...(draft.url.trim() !== opened.url && { url: draft.url.trim() }),
    ...(draft.description.trim() !== opened.description && { description: draft.description.trim() || null }),
    ...(JSON.stringify(types) !== JSON.stringify(before) && { types: types && [...types, ...laterTypes(webhook)] }),
  };
};
