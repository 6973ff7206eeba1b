import { readAttributes } from './attribute-values.ts';
import type { Item } from './database.ts';

const LIST = ':{"L":[';
const LIST_END = ']}';
const LIST_BEGINS = `"${LIST}`;

// Within a string there would be a backslash before the name's quotes. -1: the name has no list.
const findList = (json: string, name: string): number => {
  const quoted = JSON.stringify(name);
  const head = quoted + LIST;
  let at = json.indexOf(head);
  while (at >= 0 && json[at - 1] !== ',' && json[at - 1] !== '{') at = json.indexOf(head, at + 1);
  return at < 0 ? at : at + quoted.length;
};

/**
 * A map of lists in a reply of DynamoDB that is not parsed before it is needed. V8 parses a name that it has never
 * seen ten times as slowly as a value, and in a map with an entry for each request in flight every name is new.
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
    const at = findList(this.#json, name);
    if (at < 0) return undefined;
    const list = this.#json.slice(at, this.#json.indexOf(LIST_END, at) + LIST_END.length);
    // Read under a name that is always the same.
    return readAttributes(JSON.parse(`{"entry"${list}}`)).entry;
  }

  /** All entries. */
  read(): Item {
    return readAttributes(JSON.parse(this.#json));
  }
}
