import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError, InternalError } from '../../../shared/http/errors.ts';
import { toErrorReply } from '../../../shared/middleware/error-replies.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const quota = new ApiError({ status: 429, type: 'insufficient_quota', code: 'insufficient_quota', message: 'No money.', headers: {} });

let logged: ReturnType<typeof jest.spyOn>;
beforeEach(() => {
  logged = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const replyTo = async (path: string, error: unknown = quota) => {
  const requestContext = { requestId: 'gateway-1' } as ApiEvent['requestContext'];
  const { statusCode, headers, body } = await toErrorReply(error, {
    ...eventOf(path, { method: 'POST' }),
    requestContext,
    requestId: 'req_1',
  });
  return { statusCode, headers, body: JSON.parse(body) as Record<string, unknown> };
};

describe('an error reply', () => {
  test.each(['/v1/messages', '/v1/messages/count_tokens', '/v1/v1/messages', '/messages', '/v1/messages/'])(
    'has the shape of the Messages API on POST %s',
    async (path) => {
      const { statusCode, headers, body } = await replyTo(path);
      expect({ statusCode, body }).toEqual({
        statusCode: 402,
        body: {
          type: 'error',
          error: { type: 'billing_error', message: 'No money.', details: { error_code: 'insufficient_quota', param: null } },
          request_id: 'req_1',
        },
      });
      expect(headers).toMatchObject({ 'x-should-retry': 'false', 'x-request-id': 'req_1', 'request-id': 'req_1' });
      expect(logged.mock.calls.join()).toMatch(/"message":"refused".*"status":402,"code":"insufficient_quota"/);
    },
  );

  test.each(['/v1/chat/completions', '/v1/models', '/v1/tickets/tkt_1/messages', '/v1/key'])(
    'has our own shape on POST %s',
    async (path) => {
      const { statusCode, body } = await replyTo(path);
      expect(statusCode).toBe(429);
      expect(body).toMatchObject({ error: { type: 'insufficient_quota', code: 'insufficient_quota' } });
      expect(body).not.toHaveProperty('type');
    },
  );

  test('never has the text of an unexpected error', async () => {
    const { statusCode, body } = await replyTo('/v1/messages', new Error('secret'));
    expect(statusCode).toBe(500);
    expect(body.error).toMatchObject({ type: 'api_error', message: new InternalError().message });
  });
});
