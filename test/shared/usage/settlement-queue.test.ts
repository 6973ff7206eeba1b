import { expect, test } from '@jest/globals';
import { orphanedEvent } from '../../../shared/usage/event.ts';
import { readMessage, toMessage } from '../../../shared/usage/settlement-queue.ts';

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
const ACCEPTED = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

test('a settlement has only characters that SQS accepts, whatever the caller sends', () => {
  const text = 'a\u0000\u001F\u007F\uD7FF\uE000\uFFFD\uFFFE\uFFFF😀"\\';
  const facts = { requestId: 'req_1', keyId: 'key_1', orgId: 'org_1', projectId: undefined, admittedAtMs: 1, nowMs: 2 };
  const event = { ...orphanedEvent(facts), user: text, metadata: { [text]: text } };
  const settlement = { event, limiterId: 'key_1', shards: 1 };
  const message = toMessage(settlement);
  expect(message).toMatch(ACCEPTED);
  expect(readMessage(message)).toEqual(settlement);
});
