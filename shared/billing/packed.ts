import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { readAttributes, writeAttributes } from '../database/attribute-values.ts';

type Attributes = Parameters<typeof readAttributes>[0];

// More than fits an item, compressed a hundredfold.
const MAX_UNPACKED_BYTES = 40 * 1024 * 1024;

/**
 * Plain values as one compressed attribute. An item can have 400 KB, and the lines of an invoice would need more
 * after about a thousand lines; packed they take a tenth of that.
 */
export const pack = (values: object): Uint8Array => deflateRawSync(writeAttributes(values));

export const unpack = (packed: unknown): Record<string, unknown> =>
  readAttributes(JSON.parse(inflateRawSync(packed as Uint8Array, { maxOutputLength: MAX_UNPACKED_BYTES }).toString()) as Attributes);
