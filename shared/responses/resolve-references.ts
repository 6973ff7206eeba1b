import { InvalidRequest } from '../http/errors.ts';
import { ItemNotFound } from './errors.ts';
import type { InputItem, Item, ItemReference } from './item.ts';
import type { ResponseStore } from './response-store.ts';

/** Each response that is referred to is a read of its own. */
const MAX_RESPONSES = 32;

export const isReference = (item: InputItem): item is ItemReference => item.type === 'item_reference';

/** An item's id holds its response's own, as output.ts makes it: `msg_<random>_<position>`. */
const responseIdOf = (itemId: string): string | undefined => {
  const random = /^[a-z]+_([0-9A-Za-z]+)_\d+$/.exec(itemId)?.[1];
  return random && `resp_${random}`;
};

/**
 * The items that a caller has sent, with those of earlier responses in place of what refers to them.
 * @throws ItemNotFound (404), or a 400 for items of more responses than are read for one request
 */
export const resolveReferences = async (
  store: Pick<ResponseStore, 'get'>,
  input: readonly InputItem[],
  organization: string,
): Promise<readonly Item[]> => {
  const references = input.filter(isReference);
  if (references.length === 0) return input as readonly Item[];
  const ids = new Set(references.flatMap(({ id }) => responseIdOf(id) ?? []));
  if (ids.size > MAX_RESPONSES)
    throw new InvalidRequest({
      param: 'input',
      message: `Invalid value for 'input': it refers to items of ${ids.size} responses, more than the ${MAX_RESPONSES} there can be. Continue the last one with previous_response_id.`,
    });
  const kept = new Map<string, Item>();
  // One after the other: a whole conversation is opened for each, and memory has to hold only one.
  for (const id of ids) for (const item of (await store.get(organization, id))?.response.output ?? []) kept.set(item.id, item as Item);
  return input.map((item, index) => {
    if (!isReference(item)) return item;
    const found = kept.get(item.id);
    if (!found) throw new ItemNotFound(item.id, index);
    return found;
  });
};
