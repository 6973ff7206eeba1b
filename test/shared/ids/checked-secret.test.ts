import { describe, expect, test } from '@jest/globals';
import { hashOfSecret, hintOf, sameHash } from '../../../shared/ids/checked-secret.ts';

describe('sameHash', () => {
  test('compares whole digests', () => {
    const hash = hashOfSecret('a');
    expect(sameHash(hash, Uint8Array.from(hash))).toBe(true);
    expect(sameHash(hash, hashOfSecret('b'))).toBe(false);
    expect(sameHash(hash, hash.subarray(0, 31))).toBe(false);
    expect(sameHash(hash, Buffer.alloc(0))).toBe(false);
  });
});

describe('hintOf', () => {
  test('shows the first and the last four characters', () => {
    expect(hintOf('sk-sabcdefghijklmnop4f2a')).toBe('sk-s…4f2a');
  });
});
