import type { Item } from '../../../shared/database/database.ts';

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const CONTAINER_BYTES = 3;
const ELEMENT_BYTES = 1;
const DIGITS_PER_BYTE = 2;

const numberBytes = (value: number | bigint): number => Math.ceil(String(value).length / DIGITS_PER_BYTE) + 1;

const valueBytes = (value: unknown): number => {
  if (typeof value === 'number' || typeof value === 'bigint') return numberBytes(value);
  // All texts of limiters and events are ASCII.
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (typeof value === 'boolean' || value === null || value === undefined) return 1;
  let bytes = CONTAINER_BYTES;
  if (Array.isArray(value)) for (const element of value) bytes += ELEMENT_BYTES + valueBytes(element);
  else for (const name in value) bytes += ELEMENT_BYTES + name.length + valueBytes((value as Item)[name]);
  return bytes;
};

/** The bytes by which DynamoDB charges for an item; 0 if there is none. */
export const itemBytes = (item: Item | undefined): number => {
  if (!item) return 0;
  let bytes = 0;
  for (const name in item) bytes += name.length + valueBytes(item[name]);
  return bytes;
};
