import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newSecret, parseSecret } from '../../../../shared/admission/item/secret.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

describe('an API key', () => {
  test('contains its id and scope, and is identified by its SHA-256', () => {
    for (const scope of ['serverless', 'on_demand'] as const) {
      const keyId = newId('key');
      const { secret, hash } = newSecret(scope, keyId);
      expect(parseSecret(secret)).toEqual({ keyId, scope, hash });
      expect(hash).toEqual(createHash('sha256').update(secret).digest());
      expect(secret).toMatch(/^sk-[so][0-9A-Za-z]{52}$/);
    }
  });

  test('never shares a secret with another key', () => {
    const secrets = Array.from({ length: 1_000 }, () => newSecret('serverless', newId('key')).secret);
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  test('is rejected without a call if any one character is changed', () => {
    const { secret } = newSecret('serverless', newId('key'));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: secret.length - 1 }), fc.constantFrom(...'0aZ-_'), (at, character) => {
        fc.pre(secret[at] !== character);
        expect(parseSecret(secret.slice(0, at) + character + secret.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  test.each(['', 'sk-', 'sk-proj-abcdefghijklmnop', 'hunter2', `sk-s${'a'.repeat(52)}`])('is not %p', (text) => {
    expect(parseSecret(text)).toBeUndefined();
  });
});
