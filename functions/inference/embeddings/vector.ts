import { heapBytes } from '../memory/heap-bytes.ts';

const MIB = 1024 * 1024;
// Vectors are outside V8's heap, but reading and writing them fills it, and a small function has little memory beside
// it.
const WITHOUT_VECTORS_BYTES = 30 * MIB;
// 2,048 vectors of 8,192 values.
const MOST_BYTES = 64 * MIB;

/** The bytes of a request's vectors for which the function has memory. */
export const MAX_VECTORS_BYTES = Math.min(MOST_BYTES, heapBytes - WITHOUT_VECTORS_BYTES);

/** The values of an embedding, as 32-bit floats. */
export type Vector = Float32Array;

// All of these bits are set in an infinity, and in what is not a number.
const EXPONENT = 0x7f800000;

const areFinite = (vector: Vector): boolean => {
  for (const bits of new Uint32Array(vector.buffer, vector.byteOffset, vector.length)) if ((bits & EXPONENT) === EXPONENT) return false;
  return true;
};

/**
 * Empty vectors for the results of a call, in one buffer: many small ones would leave garbage behind that takes as much
 * memory as the vectors.
 */
export const createVectors = (count: number, dimensions: number): Vector[] => {
  const values = new Float32Array(count * dimensions);
  return Array.from({ length: count }, (_, index) => values.subarray(index * dimensions, (index + 1) * dimensions));
};

/** Returns the memory of vectors at once. They have no values from then on. */
export const freeVectors = (vectors: readonly Vector[]): void => {
  for (const { buffer } of vectors) if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
};

// Float32Array has the byte order of the machine, and Lambda's are all little-endian.
const decode = (base64: string, { buffer, byteOffset, byteLength }: Vector): boolean =>
  Buffer.byteLength(base64, 'base64') === byteLength && Buffer.from(buffer, byteOffset, byteLength).write(base64, 'base64') === byteLength;

const areNumbers = (values: unknown, count: number): values is number[] =>
  Array.isArray(values) && values.length === count && values.every((value) => typeof value === 'number');

/**
 * Reads a runtime's embedding, in either format.
 * @param vector gets its values
 * @returns false if it is not a vector of as many finite numbers
 */
export const readVector = (embedding: unknown, vector: Vector): boolean => {
  if (typeof embedding === 'string') {
    if (!decode(embedding, vector)) return false;
  } else {
    if (!areNumbers(embedding, vector.length)) return false;
    vector.set(embedding);
  }
  return areFinite(vector);
};

/** The JSON of a vector: an array of numbers, or a string with its little-endian bytes. */
export const writeVector = (vector: Vector, format: 'float' | 'base64'): string =>
  format === 'base64'
    ? `"${Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')}"`
    : `[${vector.join(',')}]`;
