import { expect, test } from '@jest/globals';
import { isMessagesPath } from '../../../shared/http/messages-path.ts';

test.each(['/v1/messages', '/v1/messages/', '/v1/messages/count_tokens', '/messages', '/v1/v1/messages'])(
  'answers %s as the Messages API',
  (path) => expect(isMessagesPath(path)).toBe(true),
);

test.each(['/v1/tickets/tkt_1/messages', '/v1/messages/batches', '/v1/chat/completions', '/'])('answers %s as another API', (path) =>
  expect(isMessagesPath(path)).toBe(false),
);
