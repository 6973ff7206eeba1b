import { readAttributes } from './attribute-values.ts';
import { type Item, readNumber } from './database.ts';
import { UnreadMap } from './unread-map.ts';

const HEAD = '{"Attributes":{';
const TAIL = '}}';
const NAME_END = '":{"';
const NUMBER = 'N":"';
const STRING = 'S":"';
const BYTES = 'B":"';
const TRUE = 'BOOL":true';
const FALSE = 'BOOL":false';
const LIST = 'L":[';
const MAP = 'M":{';
const LIST_END = ']}';

// The order of more names than this is forgotten, because counters of slots and days come and go.
const MAX_NAMES = 64;

// `end` is at the brace that closes the attribute.
interface Value {
  value: unknown;
  end: number;
}

const quotedAt = (json: string, start: number): string | undefined => {
  const text = json.slice(start, json.indexOf('"', start));
  return text.includes('\\') ? undefined : text;
};

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

// undefined if its end is not found, because it contains another list, or a text that looks like its end.
const listAt = (json: string, type: number): Value | undefined => {
  const end = json.indexOf(LIST_END, type) + 1;
  const attributes = parse(`{"list":{"${json.slice(type, end)}}}`) as Parameters<typeof readAttributes>[0] | undefined;
  return attributes && { value: readAttributes(attributes).list, end };
};

// A map of lists ends with its last list; undefined if its first entry is no list.
const unreadMapAt = (json: string, type: number): Value | undefined => {
  const start = type + MAP.length;
  const isEmpty = json[start] === '}';
  if (!isEmpty && !json.startsWith(LIST, json.indexOf(NAME_END, start) + NAME_END.length)) return undefined;
  const end = isEmpty ? start : json.indexOf(`${LIST_END}}`, start) + LIST_END.length;
  return { value: new UnreadMap(`{${json.slice(start, end)}}`), end: end + 1 };
};

// undefined if this reader does not know the type, or the value has escapes.
const valueAt = (json: string, type: number, mayBeUnread: boolean): Value | undefined => {
  if (json.startsWith(TRUE, type)) return { value: true, end: type + TRUE.length };
  if (json.startsWith(FALSE, type)) return { value: false, end: type + FALSE.length };
  if (json.startsWith(LIST, type)) return listAt(json, type);
  if (json.startsWith(MAP, type)) return mayBeUnread ? unreadMapAt(json, type) : undefined;
  const start = type + NUMBER.length;
  const text = quotedAt(json, start);
  if (text === undefined) return undefined;
  const end = start + text.length + 1;
  if (json.startsWith(NUMBER, type)) return { value: readNumber(text), end };
  if (json.startsWith(BYTES, type)) return { value: new Uint8Array(Buffer.from(text, 'base64')), end };
  if (!json.startsWith(STRING, type)) return undefined;
  // Parsed, because a slice would keep the whole reply in memory.
  const value = parse(`"${text}"`);
  return value === undefined ? undefined : { value, end };
};

/**
 * Creates a reader of the item in an update's reply that gives all items with the same attributes the same hidden
 * class. DynamoDB promises no order of attributes, and objects whose attributes were set in different orders have
 * different hidden classes. So JSON.parse can make new ones for every reply; V8 then has no fast way to read any of
 * their attributes, and the classes fill its old generation.
 * @param unread the name of a map of lists, which is returned as an UnreadMap
 * @returns a function of the reply, which returns undefined for items with other values than numbers, booleans,
 * bytes, and texts and lists without escapes
 */
export const createItemReader = (unread: string) => {
  /** The order in which attributes are set. */
  let names = new Set<string>();

  const toItem = (values: ReadonlyMap<string, unknown>): Item => {
    for (const name of values.keys()) names.add(name);
    if (names.size > MAX_NAMES) names = new Set(values.keys());
    const item: Item = {};
    for (const name of names) if (values.has(name)) item[name] = values.get(name);
    return item;
  };

  return (json: string): Item | undefined => {
    if (!json.startsWith(HEAD)) return undefined;
    const values = new Map<string, unknown>();
    for (let at = HEAD.length; json[at] === '"'; ) {
      const nameEnd = json.indexOf(NAME_END, at + 1);
      const name = json.slice(at + 1, nameEnd);
      // An assignment to this name would set the prototype.
      if (nameEnd < 0 || name.includes('\\') || name === '__proto__') return undefined;
      const read = valueAt(json, nameEnd + NAME_END.length, name === unread);
      if (!read) return undefined;
      values.set(name, read.value);
      if (json[read.end] !== '}') return undefined;
      if (read.end + 1 + TAIL.length === json.length && json.endsWith(TAIL)) return toItem(values);
      if (json[read.end + 1] !== ',') return undefined;
      at = read.end + 2;
    }
    return undefined;
  };
};
