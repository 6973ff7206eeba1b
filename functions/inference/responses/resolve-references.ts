import { InvalidValue } from '../../../shared/http/errors.ts';
import { inputItemIds } from '../../../shared/responses/input-items.ts';
import type { ConversationItem, InputItem, ItemReference } from '../../../shared/responses/item.ts';
import type { ResponseStore, StoredResponse } from '../../../shared/responses/response-store.ts';
import { ItemNotFound } from './errors.ts';
import { charactersOf, MAX_CHARACTERS_TOGETHER } from './room.ts';

// Each referenced response is a separate read.
const MAX_RESPONSES = 32;
// Held in memory in addition to the body, once for each reference.
const MAX_CHARACTERS = 4_000_000;

export const isReference = (item: InputItem): item is ItemReference => item.type === 'item_reference';

// Inverts the ids of output.ts and input-items.ts: `msg_<random>_<position>`.
const responseIdOf = (itemId: string): string | undefined => {
  const random = /^[a-z]+_([0-9A-Za-z]+)_\d+$/.exec(itemId)?.[1];
  return random && `resp_${random}`;
};

const itemsOf = (stored: StoredResponse): [string, ConversationItem][] => {
  const ids = inputItemIds(stored);
  const inputItems = stored.input.map((item, index): [string, ConversationItem] => [ids[index] as string, item]);
  return [...inputItems, ...stored.response.output.map((item): [string, ConversationItem] => [item.id, item as ConversationItem])];
};

const tooMuch = (what: string): InvalidValue =>
  new InvalidValue('input', `it refers to ${what}. Continue the last response with previous_response_id instead`);

// Before the stored text becomes a conversation.
const checkRoom = (characters: number): void => {
  if (characters > MAX_CHARACTERS_TOGETHER)
    throw tooMuch(`about ${characters} characters with this request, and the maximum is ${MAX_CHARACTERS_TOGETHER}`);
};

/**
 * Replaces item references in a caller's input with the items of earlier responses.
 * @throws ItemNotFound (404); 400 if the references are to too many responses, or the items are larger than a body may
 * be
 */
export const resolveReferences = async (
  store: Pick<ResponseStore, 'get'>,
  input: readonly InputItem[],
  organization: string,
): Promise<readonly ConversationItem[]> => {
  const references = input.filter(isReference);
  if (references.length === 0) return input as readonly ConversationItem[];
  const ids = new Set(references.flatMap(({ id }) => responseIdOf(id) ?? []));
  if (ids.size > MAX_RESPONSES) throw tooMuch(`items of ${ids.size} responses, and the maximum is ${MAX_RESPONSES}`);
  const wanted = new Set(references.map(({ id }) => id));
  const inputCharacters = charactersOf(input);
  let foundCharacters = 0;
  const found = new Map<string, { item: ConversationItem; characters: number }>();
  // One after the other, because each read has a whole conversation and memory should hold only one.
  for (const id of ids) {
    const stored = await store.get(organization, id, (bytes) => checkRoom(bytes + foundCharacters + inputCharacters));
    for (const [itemId, item] of stored ? itemsOf(stored) : [])
      if (wanted.has(itemId) && responseIdOf(itemId) === id) {
        const characters = JSON.stringify(item).length;
        foundCharacters += characters;
        found.set(itemId, { item, characters });
      }
  }
  let characters = 0;
  return input.map((item, index) => {
    if (!isReference(item)) return item;
    const match = found.get(item.id);
    if (!match) throw new ItemNotFound(item.id, index);
    characters += match.characters;
    if (characters > MAX_CHARACTERS) throw tooMuch(`more than ${MAX_CHARACTERS} characters of items`);
    return match.item;
  });
};
