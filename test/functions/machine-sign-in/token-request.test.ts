import { describe, expect, test } from '@jest/globals';
import { readTokenRequest } from '../../../functions/machine-sign-in/token-request.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const ID = 'user_0q8Xc2VwQy41mTzNbR';
const FORM = 'application/x-www-form-urlencoded';
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

const sent = (body: string, headers: Record<string, string> = {}, more: Partial<ApiEvent> = {}): ApiEvent => ({
  ...eventOf('/v1/auth/token', { method: 'POST', headers: { 'content-type': FORM, ...headers } }),
  body: Buffer.from(body).toString('base64'),
  isBase64Encoded: true,
  ...more,
});
const asJson = (text: string) => sent(text, { 'content-type': 'application/json; charset=utf-8' });

describe('readTokenRequest', () => {
  test.each([
    ['a form', sent(`grant_type=client_credentials&client_id=${ID}&client_secret=a%2Bb`)],
    ['JSON', asJson(JSON.stringify({ grant_type: 'client_credentials', client_id: ID, client_secret: 'a+b' }))],
    ['the header Authorization', sent('grant_type=client_credentials', { Authorization: basic(ID, 'a%2Bb') })],
    ['both, with the same id', sent(`grant_type=client_credentials&client_id=${ID}&x=`, { authorization: basic(ID, 'a%2Bb') })],
  ])('reads the credentials from %s', (_, event) => {
    expect(readTokenRequest(event)).toMatchObject({ grantType: 'client_credentials', clientId: ID, clientSecret: 'a+b' });
  });

  test('treats parameters without a value as absent', () => {
    expect(readTokenRequest(sent(`grant_type=x&client_id=${ID}&client_secret=&scope=`)).clientSecret).toBeUndefined();
  });

  test.each([
    ['a repeated parameter of a form', sent(`grant_type=a&grant_type=b&client_id=${ID}`), 'invalid_request'],
    ['a repeated key of JSON', asJson(`{"grant_type":"a","grant_type":"b","client_id":"${ID}"}`), 'invalid_request'],
    ['a key repeated with an escape', asJson(`{"grant_type":"a","grant_typ\\u0065":"b","client_id":"${ID}"}`), 'invalid_request'],
    ['a nested value', asJson('{"grant_type":{"a":"b"}}'), 'invalid_request'],
    ['text that is not JSON', asJson('{'), 'invalid_request'],
    ['another content type', sent('grant_type=a', { 'content-type': 'text/plain' }), 'invalid_request'],
    ['an empty body', sent(''), 'invalid_request'],
    ['a long body', sent(`grant_type=${'a'.repeat(40_000)}`), 'invalid_request'],
    ['many parameters', sent(Array.from({ length: 40 }, (_, i) => `p${i}=1`).join('&')), 'invalid_request'],
    ['parameters in the URL', sent('grant_type=a', {}, { queryStringParameters: { client_secret: 'a' } }), 'invalid_request'],
    ['two secrets', sent('grant_type=a&client_secret=b', { authorization: basic(ID, 'b') }), 'invalid_request'],
    ['two ids', sent('grant_type=a&client_id=other', { authorization: basic(ID, 'b') }), 'invalid_request'],
    ['no grant type', sent(`client_id=${ID}`), 'invalid_request'],
    ['no id', sent('grant_type=a&client_secret=b'), 'invalid_request'],
    ['a scope', sent(`grant_type=a&client_id=${ID}&scope=all`), 'invalid_scope'],
    ['another scheme', sent(`grant_type=a&client_id=${ID}`, { authorization: 'Bearer abc' }), 'invalid_client'],
    ['malformed credentials', sent('grant_type=a', { authorization: 'Basic %%%' }), 'invalid_client'],
    ['malformed percent-encoding', sent('grant_type=a', { authorization: basic(ID, '%E0%A4%A') }), 'invalid_client'],
    ['a long id', sent(`grant_type=a&client_id=${'a'.repeat(101)}`), 'invalid_client'],
  ])('rejects %s', (_, event, code) => {
    expect(() => readTokenRequest(event)).toThrow(expect.objectContaining({ code }));
  });
});
