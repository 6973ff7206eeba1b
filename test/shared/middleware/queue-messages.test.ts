import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import type { TimedContext } from '../../../shared/middleware/deadline.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { type MessageWork, queueMessages } from '../../../shared/middleware/queue-messages.ts';

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(JSON.parse(String(text))) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const record = (messageId: string, group?: string) => ({
  messageId,
  body: messageId,
  attributes: group === undefined ? {} : { MessageGroupId: group },
});

const handling = (over: Partial<MessageWork<SQSRecord>>) => {
  const handled: string[] = [];
  const work: MessageWork<SQSRecord> = {
    read: (each) => each,
    handle: async ({ body }) => {
      if (body.startsWith('bad')) throw new Error(`${body} failed.`);
      handled.push(body);
    },
    failure: 'message_failed',
    factsOf: ({ messageId }) => ({ id: messageId }),
    ...over,
  };
  const handler = middy<unknown, SQSBatchResponse | 'other'>()
    .use(queueMessages(work))
    .handler(() => 'other');
  return { handled, handle: (event: object, context: Partial<TimedContext> = {}) => handler(event, context as TimedContext) };
};
const failed = (...ids: string[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

test('redelivers only the messages that failed, and logs each failure', async () => {
  const { handle, handled } = handling({});
  expect(await handle({ Records: [record('a'), record('bad1'), record('b')] })).toEqual(failed('bad1'));
  expect(handled).toEqual(['a', 'b']);
  expect(lines).toMatchObject([{ level: 'ERROR', message: 'message_failed', detail: 'bad1 failed.' }]);
});

test('leaves later messages of a FIFO group alone after a failure, and handles those of other groups', async () => {
  const { handle, handled } = handling({});
  const Records = [record('bad1', 'g'), record('a', 'g'), record('b', 'h')];
  expect(await handle({ Records })).toEqual(failed('bad1', 'a'));
  expect(handled).toEqual(['b']);
});

test('redelivers messages for which there is no time without a try', async () => {
  let left = 1;
  const { handle, handled } = handling({});
  expect(await handle({ Records: [record('a'), record('b')] }, { hasTime: () => left-- > 0 })).toEqual(failed('b'));
  expect(handled).toEqual(['a']);
  expect(lines).toMatchObject([{ detail: 'The function ran out of time.', message: 'message_failed' }]);
});

test('handles as many messages at the same time as the function allows', async () => {
  let running = 0;
  let most = 0;
  const { handle } = handling({
    parallel: 3,
    handle: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    },
  });
  await handle({ Records: ['a', 'b', 'c', 'd', 'e'].map((id) => record(id)) });
  expect(most).toBe(3);
});

test('leaves other events to the handler', async () => {
  const { handle } = handling({});
  expect(await handle({ Records: [{ dynamodb: {} }] })).toBe('other');
  expect(await handle({ 'detail-type': 'Scheduled Event' })).toBe('other');
});
