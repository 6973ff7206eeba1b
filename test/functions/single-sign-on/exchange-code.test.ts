import { describe, expect, test } from '@jest/globals';
import { exchangeCode, tokenRequest } from '../../../functions/single-sign-on/exchange-code.ts';

const exchange = { provider: { client_id: 'a client' }, code: 'c', codeVerifier: 'v', redirectUri: 'https://control.example.com/callback' };
const requestWith = (clientSecret: string | undefined, methods?: string[]) => {
  const metadata = { token_endpoint: 'https://idp.example.com/token', token_endpoint_auth_methods_supported: methods };
  const { headers, body } = tokenRequest({ ...exchange, clientSecret, metadata });
  return { headers: headers as Record<string, string>, body: Object.fromEntries(new URLSearchParams(body)) };
};

describe('the reply of a token endpoint', () => {
  const replyWith = (status: number, body: string, isComplete = true) =>
    exchangeCode(async () => ({ error: null, status, headers: {}, body: Buffer.from(body), isComplete }), {
      ...exchange,
      clientSecret: undefined,
      metadata: { token_endpoint: 'https://idp.example.com/token' },
    });

  test('has the ID token', async () => {
    expect(await replyWith(200, '{"id_token":"a.b.c","access_token":"d"}')).toBe('a.b.c');
  });

  test.each<[string, Parameters<typeof replyWith>, string]>([
    ['refuses the code', [401, '{"error":"invalid_client"}'], 'status_401'],
    ['has no ID token', [200, '{"access_token":"d"}'], 'id_token_missing'],
    ['is no JSON', [200, '<html>'], 'id_token_missing'],
    ['is cut off', [200, '{"id_token":"a.b.c"}', false], 'id_token_missing'],
  ])('says why there is none if it %s', async (_, reply, detail) => {
    await expect(replyWith(...reply)).rejects.toMatchObject({ reason: `code_refused: ${detail}` });
  });
});

describe('the request to a token endpoint', () => {
  test('has the id and the secret in a form-encoded header by default', () => {
    const { headers, body } = requestWith('s/e c:ret');
    expect(Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString()).toBe('a+client:s%2Fe+c%3Aret');
    expect(body).toEqual({ grant_type: 'authorization_code', code: 'c', code_verifier: 'v', redirect_uri: exchange.redirectUri });
  });

  test('has them in the body if the provider takes nothing else', () => {
    const { headers, body } = requestWith('secret', ['client_secret_post']);
    expect(headers).not.toHaveProperty('authorization');
    expect(body).toMatchObject({ client_id: 'a client', client_secret: 'secret' });
  });

  test('names a public client without a secret', () => {
    const { headers, body } = requestWith(undefined, ['none']);
    expect(headers).not.toHaveProperty('authorization');
    expect(body).toMatchObject({ client_id: 'a client' });
    expect(body).not.toHaveProperty('client_secret');
  });
});
