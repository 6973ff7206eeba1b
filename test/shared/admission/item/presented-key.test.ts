import { describe, expect, test } from '@jest/globals';
import { newSecret } from '../../../../shared/admission/item/secret.ts';
import { presentedKey } from '../../../../shared/admission/keys/authenticate.ts';
import type { Host } from '../../../../shared/hosts/host.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const { secret } = newSecret('serverless', newId('key'));
const host: Host = { scope: 'serverless' };
const other = newSecret('serverless', newId('key')).secret;
const errorOf = (headers: Record<string, string>, path = '/v1/chat/completions'): unknown => {
  try {
    return presentedKey(eventOf(path, { method: 'POST', headers }), host);
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

describe('a key in x-api-key', () => {
  const keyId = (headers: Record<string, string>, path?: string): unknown => (errorOf(headers, path) as { keyId?: string }).keyId;
  const of = (wanted: string): unknown => keyId({ authorization: `Bearer ${wanted}` });

  test.each(['/v1/messages', '/v1/messages/count_tokens'])('is read on %s', (path) => {
    expect(keyId({ 'X-Api-Key': secret }, path)).toBe(of(secret));
  });

  test('is read on every route from a client that names a version of the API', () => {
    expect(keyId({ 'x-api-key': secret, 'Anthropic-Version': '2023-06-01' }, '/v1/models')).toBe(of(secret));
  });

  test('is used if the bearer token is not a key of this service', () => {
    expect(keyId({ 'x-api-key': secret, authorization: 'Bearer sk-other' }, '/v1/messages')).toBe(of(secret));
  });

  test('is not used if the bearer token is a key', () => {
    expect(keyId({ 'x-api-key': other, authorization: `Bearer ${secret}` }, '/v1/messages')).toBe(of(secret));
  });

  test('is rejected as incorrect if it is not a key of this service', () => {
    expect(errorOf({ 'x-api-key': 'sk-ant-other' }, '/v1/messages')).toMatchObject({
      status: 401,
      message: expect.stringMatching(/^Your API key is not valid/),
    });
  });

  test('is not read on a route for tickets, whose path ends like the one for messages', () => {
    expect(errorOf({ 'x-api-key': secret }, '/v1/tickets/tkt_1/messages')).toMatchObject({ status: 401 });
  });
});
