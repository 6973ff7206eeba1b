import { expect, test } from '@jest/globals';
import { newSecret } from '../../../../shared/admission/item/secret.ts';
import { presentedKey } from '../../../../shared/admission/keys/authenticate.ts';
import type { Host } from '../../../../shared/hosts/host.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const { secret } = newSecret('serverless', newId('key'));
const host: Host = { scope: 'serverless' };
const errorOf = (headers: Record<string, string>): unknown => {
  try {
    return presentedKey(eventOf('/v1/chat/completions', { method: 'POST', headers }), host);
  } catch (error) {
    return error;
  }
};

test.each([
  ['no header', {}, /^You didn't provide an API key\./],
  ['a key without Bearer', { authorization: secret }, /has an API key without 'Bearer' before it\./],
  ['a key in x-api-key', { 'x-api-key': secret }, /in the header 'x-api-key', which this API doesn't read\./],
  ['a key in api-key', { 'Api-Key': secret }, /in the header 'api-key', which this API doesn't read\./],
  ['another scheme', { authorization: 'Basic YTpi' }, /^You didn't provide an API key\./],
])('rejects %s with a 401 that says how to send the key, and does not repeat it', (_, headers, message) => {
  const error = errorOf(headers as Record<string, string>);
  expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', message: expect.stringMatching(message) });
  expect(error).toMatchObject({ message: expect.stringContaining("Send it in the header 'Authorization: Bearer <API key>'.") });
  expect(JSON.stringify(error)).not.toContain(secret);
  expect((error as Error).message).not.toContain(secret);
});

test('reads a key after Bearer, whatever is in the other headers', () => {
  expect(errorOf({ authorization: `Bearer ${secret}`, 'x-api-key': 'other' })).toMatchObject({ scope: 'serverless' });
});
