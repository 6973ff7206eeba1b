import { describe, expect, test } from '@jest/globals';
import { Webhook as Signer } from 'standardwebhooks';
import { attemptText, type Delivery, isMoving } from '../../../console/pages/webhook/attempt-words.ts';
import { EVENT_GROUPS, eventTypesIn, withType, wordsOfType } from '../../../console/pages/webhooks/event-types.ts';
import { VERIFY_SNIPPETS } from '../../../console/pages/webhooks/verify-snippets.ts';
import {
  changesOfWebhook,
  draftOfWebhook,
  EMPTY_WEBHOOK,
  isComplete,
  newWebhookOf,
  type Webhook,
} from '../../../console/pages/webhooks/webhook-draft.ts';
import { newWebhookSecret } from '../../../functions/control/webhooks/webhook-resource.ts';
import { SelectableType } from '../../../shared/notifications/webhook.ts';

const webhook: Webhook = {
  id: 'wh_1',
  object: 'webhook',
  organization: 'org_1',
  url: 'https://example.com/events',
  types: null,
  description: null,
  enabled: true,
  disabled_reason: null,
  previous_secret_until: null,
  created_at: 1,
  updated_at: 1,
  version: 1,
};

describe('the types of events', () => {
  test('are all in one group, with words for each', () => {
    const grouped = [...EVENT_GROUPS.values()].flat();
    expect(grouped.toSorted()).toEqual(SelectableType.options.toSorted());
    expect(wordsOfType('sluice.invoice.paid.v1')).toBe('Invoice paid');
    expect(wordsOfType('sluice.later.v2')).toBe('sluice.later.v2');
  });

  test('are added and left out one by one', () => {
    const text = withType('sluice.ticket.created.v1', 'sluice.invoice.paid.v1', true);
    expect(eventTypesIn(text)).toEqual(['sluice.invoice.paid.v1', 'sluice.ticket.created.v1']);
    expect(withType(text, 'sluice.ticket.created.v1', false)).toBe('sluice.invoice.paid.v1');
  });
});

describe('the form of a webhook', () => {
  test('sends all events as null, and needs one otherwise', () => {
    const draft = { ...EMPTY_WEBHOOK, url: ' https://example.com ' };
    expect(newWebhookOf(draft)).toEqual({ url: 'https://example.com', types: null, description: null });
    expect([isComplete(draft), isComplete({ ...draft, isAll: false }), isComplete(EMPTY_WEBHOOK)]).toEqual([true, false, false]);
  });

  test('sends only the fields that differ, and keeps types that it does not know', () => {
    const later = { ...webhook, types: ['sluice.invoice.paid.v1', 'sluice.later.v2'] as Webhook['types'] };
    const draft = draftOfWebhook(later);
    expect(changesOfWebhook(draft, later)).toEqual({});
    expect(changesOfWebhook({ ...draft, types: withType(draft.types, 'sluice.ticket.created.v1', true) }, later)).toEqual({
      types: ['sluice.invoice.paid.v1', 'sluice.ticket.created.v1', 'sluice.later.v2'],
    });
    expect(changesOfWebhook({ ...draft, isAll: true, description: 'Books' }, later)).toEqual({ types: null, description: 'Books' });
  });
});

describe('a delivery', () => {
  const delivery = { event: 'evt_1', next_attempt_at: null } as Delivery;

  test('says what became of an attempt', () => {
    const attempt = { at: 1, duration_ms: 1, status: null, error: null };
    expect(attemptText({ ...attempt, status: 503 })).toBe('Status 503');
    expect(attemptText({ ...attempt, error: 'timed_out' })).toBe('There was no response within 10 seconds.');
  });

  test.each([
    ['a test has no delivery yet', [delivery], 'evt_2', true],
    ['its test was delivered', [delivery], 'evt_1', false],
    ['an attempt is due soon', [{ ...delivery, next_attempt_at: 1_060 }], undefined, true],
    ['the next attempt is hours away', [{ ...delivery, next_attempt_at: 9_000 }], undefined, false],
  ] as const)('is read again or not when %s', (_, deliveries, event, expected) => {
    expect(isMoving(deliveries, event, 1_000)).toBe(expected);
  });
});

describe('the code that verifies a signature', () => {
  type IsGenuine = (secret: string, headers: Record<string, string>, body: string) => boolean;
  const [, code = ''] = VERIFY_SNIPPETS.find(([name]) => name.startsWith('Node.js')) ?? [];

  test('accepts what Standard Webhooks signs, and nothing else', async () => {
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { isGenuine: IsGenuine };
    const [secret, other] = [newWebhookSecret(), newWebhookSecret()];
    const [body, now] = ['{"id":"evt_1"}', new Date()];
    const signature = new Signer(secret).sign('evt_1', now, body);
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signature,
    };
    expect(isGenuine(secret, headers, body)).toBe(true);
    expect(isGenuine(secret, { ...headers, 'webhook-signature': `v1,AAAA ${signature}` }, body)).toBe(true);
    expect(isGenuine(other, headers, body)).toBe(false);
    expect(isGenuine(secret, headers, `${body} `)).toBe(false);
    expect(isGenuine(secret, { ...headers, 'webhook-id': 'evt_2' }, body)).toBe(false);
    expect(isGenuine(secret, { ...headers, 'webhook-timestamp': '1' }, body)).toBe(false);
    expect(isGenuine(secret, {}, body)).toBe(false);
  });
});
