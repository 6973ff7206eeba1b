import { describe, expect, test } from '@jest/globals';
import { checkVectors } from '../../../../functions/inference/embeddings/support.ts';
import { createVectors, freeVectors, readVector } from '../../../../functions/inference/embeddings/vector.ts';

const MIB = 1024 * 1024;

describe('the vectors of a call', () => {
  test('are read in either format, each into its own place', () => {
    const [first, second] = createVectors(2, 2) as [Float32Array, Float32Array];
    expect([readVector(Buffer.from(Float32Array.of(0.5, -1).buffer).toString('base64'), second), readVector([2, 3], first)]).toEqual([
      true,
      true,
    ]);
    expect([[...first], [...second]]).toEqual([
      [2, 3],
      [0.5, -1],
    ]);
  });

  test.each([
    ['of fewer values', Buffer.alloc(4).toString('base64')],
    ['of more values', Buffer.alloc(12).toString('base64')],
    ['of other characters', `${'*'.repeat(11)}=`],
    ['of fewer numbers', [1]],
    ['of another type', [1, '2']],
    ['of an infinity', [1, Number.POSITIVE_INFINITY]],
  ])('are not read from an embedding %s', (_, embedding) => {
    const [vector] = createVectors(1, 2) as [Float32Array];
    expect(readVector(embedding, vector)).toBe(false);
  });

  test('return their memory at once, and once', () => {
    const vectors = createVectors(2, 3);
    freeVectors(vectors);
    freeVectors(vectors);
    expect(vectors.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
  });

  test('may take the memory that the function has for them, and not more', () => {
    expect(() => checkVectors(1_024, 4_096, 16 * MIB)).not.toThrow();
    expect(() => checkVectors(1_025, 4_096, 16 * MIB)).toThrow(
      'A request can have 1024 vectors of 4096 dimensions, and this one has 1025 inputs. Split it into several requests.',
    );
  });
});
