import { describe, expect, test } from '@jest/globals';
import { failureIn } from '../../../console/client/api-failure.ts';

const messageOf = (code: string | null, message: string): string =>
  failureIn({ error: { code, message }, request_id: 'req_1' }, { status: 409, requestId: 'req_1', retryAfterSeconds: undefined }).message;

describe('the advice of a failure', () => {
  test.each([
    [
      'second_factor_required',
      'Your role requires a second factor. Set one up with POST /v1/auth/totp and POST /v1/auth/totp/verify, or log in again if you have one.',
      'Your role requires a second factor. Set one up on the page Account. If you have one, sign out and in again.',
    ],
    [
      'no_seller',
      'An invoice needs a seller. Set it with PUT /v1/billing/seller, then issue the invoice.',
      'An invoice needs a seller. Set it on the page Seller, then issue the invoice.',
    ],
    [
      'instance_type_not_priced',
      "The instance type 'ml.g5.xlarge' has no price yet, so deployments can't use it. Choose another one, or ask an admin to add a price: POST /v1/instance-types/ml.g5.xlarge/prices.",
      "The instance type 'ml.g5.xlarge' has no price yet, so deployments can't use it. Choose another one, or ask an admin to add a price.",
    ],
  ])('names screens instead of requests: %s', (code, sent, shown) => {
    expect(messageOf(code, sent)).toBe(shown);
  });

  test('is otherwise that of the service', () => {
    for (const code of [null, 'toString', 'version_conflict'])
      expect(messageOf(code, 'It has changed. Read it again.')).toBe('It has changed. Read it again.');
  });
});
