import { readAttributes } from './attribute-values.ts';
import type { Item } from './database.ts';

const MAP = ':{"M":{';
const LIST = ':{"L":[';
const LIST_END = ']}';
/** Between the end of a list's name and its first element. */
const LIST_BEGINS = `"${LIST}`;

/** Where a name begins, with what follows it, as a name of an object; -1: nowhere. Within a string there would be a backslash before its quotes. */
const find = (json: string, name: string, follows: string): number => {
  const head = JSON.stringify(name) + follows;
  let at = json.indexOf(head);
  while (at >= 0 && json[at - 1] !== ',' && json[at - 1] !== '{') at = json.indexOf(head, at + 1);
  return at;
};

/**
 * A map of lists in a reply of DynamoDB that is not parsed before it is needed. V8 parses a name that it has never seen ten times as slowly as a value,
 * and in a map with an entry for each request in flight every name is new.
 */
export class UnreadMap {
  readonly #json: string;
  #size: number | undefined;

  /** @param json in DynamoDB's form, such as `{"a":{"L":[{"N":"1"}]},"b":{"L":[]}}`; no text in it contains `]}` */
  constructor(json: string) {
    this.#json = json;
  }

  get size(): number {
    this.#size ??= this.#count();
    return this.#size;
  }

  #count(): number {
    const json = this.#json;
    let entries = 0;
    // Within a string, the quote would be escaped.
    for (let at = json.indexOf(LIST_BEGINS); at >= 0; at = json.indexOf(LIST_BEGINS, at + LIST_BEGINS.length)) entries++;
    return entries;
  }

  /** The value of an entry; undefined if there is none. */
  get(name: string): unknown {
    const at = find(this.#json, name, LIST);
    if (at < 0) return undefined;
    const entry = this.#json.slice(at, this.#json.indexOf(LIST_END, at) + LIST_END.length);
    return readAttributes(JSON.parse(`{${entry}}`))[name];
  }

  /** All entries. */
  read(): Item {
    return readAttributes(JSON.parse(this.#json));
  }
}

const UNREAD = Symbol('unread map');

/** An item's map that was not parsed when the item was read; undefined if it was, and for copies of the item. */
export const unreadMapOf = (item: object): UnreadMap | undefined => (item as { [UNREAD]?: UnreadMap })[UNREAD];

/** Sets an attribute of an item to a map, which is read when the attribute is. `unreadMapOf` returns it without reading it. */
const setUnreadMap = (item: Item, name: string, map: UnreadMap): void => {
  let entries: Item | undefined;
  const get = (): Item => {
    entries ??= map.read();
    return entries;
  };
  Object.defineProperty(item, name, { get, enumerable: true, configurable: true });
  Object.defineProperty(item, UNREAD, { value: map });
};

/** A reply with an empty map in the place of one that is not parsed yet, and what puts that one into the item. */
interface WithoutMap {
  json: string;
  putInto: (item: Item) => void;
}

/**
 * Takes a map of lists out of a reply.
 * @param name of the attribute
 * @returns a function of the reply, which has the map at most once; undefined if there is no such map
 */
export const leaveUnread =
  (name: string) =>
  (json: string): WithoutMap | undefined => {
    const at = find(json, name, MAP);
    if (at < 0) return undefined;
    const start = json.indexOf(MAP, at) + MAP.length;
    // After the end of a list comes the next entry, or the end of the map.
    const end = json[start] === '}' ? start : json.indexOf(`${LIST_END}}`, start) + LIST_END.length;
    if (end < start) return undefined;
    const map = new UnreadMap(`{${json.slice(start, end)}}`);
    return { json: json.slice(0, start) + json.slice(end), putInto: (item) => setUnreadMap(item, name, map) };
  };
