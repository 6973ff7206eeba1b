import { type Item, readNumber } from './database.ts';

type AttributeValue = Record<string, unknown>;

const numberText = (value: number): string => {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`${value} is not an exact number. Use a bigint.`);
  return String(value);
};

// The instance of a class would be stored without its class.
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

// Text that means itself in JSON: no quotes, escapes or control characters, and no characters that can be half of
// another one.
const LITERAL = /^[\w #:/.-]*$/;

// JSON.stringify takes several times as long for short text.
const quoted = (text: string): string => (LITERAL.test(text) ? `"${text}"` : JSON.stringify(text));

const writeValue = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return `{"S":${quoted(value)}}`;
    case 'number':
      return `{"N":"${numberText(value)}"}`;
    case 'bigint':
      return `{"N":"${value}"}`;
    case 'boolean':
      return `{"BOOL":${value}}`;
  }
  if (value === null) return '{"NULL":true}';
  if (value instanceof Uint8Array) return `{"B":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`;
  if (Array.isArray(value)) return `{"L":[${value.filter((element) => element !== undefined).map(writeValue)}]}`;
  if (typeof value === 'object' && isPlain(value)) return `{"M":${writeAttributes(value)}}`;
  throw new TypeError(`DynamoDB cannot store ${Object.prototype.toString.call(value)}.`);
};

/**
 * The attributes of an item in DynamoDB's JSON
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html). Undefined
 * attributes are left out.
 * @throws RangeError for a number that is not exact; TypeError for a value that DynamoDB has no type for
 */
export const writeAttributes = (item: object): string => {
  let text = '{';
  for (const name of Object.keys(item)) {
    const value = (item as Item)[name];
    if (value !== undefined) text += `${text === '{' ? '' : ','}${quoted(name)}:${writeValue(value)}`;
  }
  return `${text}}`;
};

const readValue = (value: AttributeValue): unknown => {
  for (const type in value) {
    const stored = value[type];
    switch (type) {
      case 'S':
      case 'BOOL':
        return stored;
      case 'N':
        return readNumber(stored as string);
      case 'B':
        return new Uint8Array(Buffer.from(stored as string, 'base64'));
      case 'NULL':
        return null;
      case 'L':
        return (stored as AttributeValue[]).map(readValue);
      case 'M':
        return readAttributes(stored as Record<string, AttributeValue>);
      case 'SS':
        return new Set(stored as string[]);
      case 'NS':
        return new Set((stored as string[]).map(readNumber));
      case 'BS':
        return new Set((stored as string[]).map((bytes) => new Uint8Array(Buffer.from(bytes, 'base64'))));
    }
  }
  throw new TypeError(`An attribute has an unknown type: ${Object.keys(value)}.`);
};

/** An item from the attributes of DynamoDB's JSON. Integers that a double can't represent become bigints. */
export const readAttributes = (attributes: Readonly<Record<string, AttributeValue>>): Item => {
  const item: Item = {};
  for (const name of Object.keys(attributes)) {
    const value = readValue(attributes[name] as AttributeValue);
    // An assignment to this name would set the prototype.
    if (name === '__proto__') Object.defineProperty(item, name, { value, enumerable: true, configurable: true, writable: true });
    else item[name] = value;
  }
  return item;
};
