import { InvalidRequest } from '../../../shared/http/errors.ts';
import { inputItemIds } from '../../../shared/responses/input-items.ts';
import type { InputItem, Item, ItemReference } from '../../../shared/responses/item.ts';
import type { ResponseStore, StoredResponse } from '../../../shared/responses/response-store.ts';
import { ItemNotFound } from './errors.ts';

/** Each response that is referred to is a read of its own. */
const MAX_RESPONSES = 32;
/** What is referred to is held beside the body, as often as it is referred to. */
const MAX_CHARACTERS = 4_000_000;

export const isReference = (item: InputItem): item is ItemReference => item.type === 'item_reference';

/** An item's id holds its response's own, as output.ts and input-items.ts make it: `msg_<random>_<position>`. */
const responseIdOf = (itemId: string): string | undefined => {
  const random = /^[a-z]+_([0-9A-Za-z]+)_\d+$/.exec(itemId)?.[1];
  return random && `resp_${random}`;
};

/** The items of a response by their ids: what it answered, and what it was asked. */
const itemsOf = (stored: StoredResponse): [string, Item][] => {
  const ids = inputItemIds(stored);
  const asked = stored.input.map((item, index): [string, Item] => [ids[index] as string, item]);
  return [...asked, ...stored.response.output.map((item): [string, Item] => [item.id, item as Item])];
};

const tooMuch = (what: string): InvalidRequest => {
  const message = `Invalid value for 'input': it refers to ${what}. Continue the last response with previous_response_id instead.`;
  return new InvalidRequest({ param: 'input', message });
};

/**
 * The items that a caller has sent, with those of earlier responses in place of what refers to them.
 * @throws ItemNotFound (404), or a 400 for items of more responses than are read for one request, or for more of them than a body could hold
 */
export const resolveReferences = async (
  store: Pick<ResponseStore, 'get'>,
  input: readonly InputItem[],
  organization: string,
): Promise<readonly Item[]> => {
  const references = input.filter(isReference);
  if (references.length === 0) return input as readonly Item[];
  const ids = new Set(references.flatMap(({ id }) => responseIdOf(id) ?? []));
  if (ids.size > MAX_RESPONSES) throw tooMuch(`items of ${ids.size} responses, and the maximum is ${MAX_RESPONSES}`);
  const wanted = new Set(references.map(({ id }) => id));
  const kept = new Map<string, { item: Item; characters: number }>();
  // One after the other: a whole conversation is opened for each, and memory has to hold only one.
  for (const id of ids) {
    const stored = await store.get(organization, id);
    for (const [itemId, item] of stored ? itemsOf(stored) : [])
      if (wanted.has(itemId) && responseIdOf(itemId) === id) kept.set(itemId, { item, characters: JSON.stringify(item).length });
  }
  let characters = 0;
  return input.map((item, index) => {
    if (!isReference(item)) return item;
    const found = kept.get(item.id);
    if (!found) throw new ItemNotFound(item.id, index);
    characters += found.characters;
    if (characters > MAX_CHARACTERS) throw tooMuch(`more than ${MAX_CHARACTERS} characters of items`);
    return found.item;
  });
};
