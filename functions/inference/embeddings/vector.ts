/** The values of an embedding, as 32-bit floats. */
export type Vector = Float32Array;

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;
// All of these bits are set in an infinity, and in what is not a number.
const EXPONENT = 0x7f800000;

const areFinite = (vector: Vector): boolean => {
  for (const bits of new Uint32Array(vector.buffer, vector.byteOffset, vector.length)) if ((bits & EXPONENT) === EXPONENT) return false;
  return true;
};

// Float32Array reads in the byte order of the machine, and Lambda's are all little-endian.
const ofBytes = (bytes: Buffer): Vector => {
  const isAligned = bytes.byteOffset % FLOAT_BYTES === 0;
  const { buffer, byteOffset, length } = isAligned ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  return new Float32Array(buffer, byteOffset, length / FLOAT_BYTES);
};

/**
 * Reads a runtime's embedding, in either format.
 * @returns undefined if it is not a vector of `dimensions` finite numbers
 */
export const readVector = (embedding: unknown, dimensions: number): Vector | undefined => {
  let vector: Vector;
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    if (bytes.length !== dimensions * FLOAT_BYTES) return undefined;
    vector = ofBytes(bytes);
  } else {
    if (!Array.isArray(embedding) || embedding.length !== dimensions || !embedding.every((value) => typeof value === 'number'))
      return undefined;
    vector = Float32Array.from(embedding as number[]);
  }
  return areFinite(vector) ? vector : undefined;
};

/** The JSON of a vector: an array of numbers, or a string with its little-endian bytes. */
export const writeVector = (vector: Vector, format: 'float' | 'base64'): string =>
  format === 'base64'
    ? `"${Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')}"`
    : `[${vector.join(',')}]`;
