import * as z from 'zod';
import { InvalidValue } from '../http/errors.ts';
import type { ConversationItem, MessageItem } from './item.ts';
import type { StoredResponse } from './response-store.ts';

const MAX_PAGE = 100;

/** The query parameters of the list of input items. */
export const InputItemsQuery = z.object({
  limit: z.coerce
    .number({ error: `expected a number from 1 to ${MAX_PAGE}` })
    .int()
    .min(1)
    .max(MAX_PAGE)
    .default(20)
    .meta({ description: 'The most items of one page.' }),
  order: z.enum(['asc', 'desc']).default('desc').meta({ description: '`asc`: in the order of the input; `desc`: the last one first.' }),
  after: z.string().optional().meta({ description: 'The id of the item that the page begins after: `last_id` of the page before.' }),
});
export type InputItemsQuery = z.output<typeof InputItemsQuery>;

type Part = Exclude<MessageItem['content'], string>[number];

const toPart = (part: Part): Part => (part.type === 'output_text' ? { annotations: [], logprobs: [], ...part } : part);

const toParts = ({ role, content }: MessageItem): Part[] => {
  const parts =
    typeof content === 'string' ? [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: content } as const] : content;
  return parts.map(toPart);
};

/**
 * The ids of a response's input items: an item's own id, or a generated one if it has none or an earlier item has the
 * same.
 */
export const inputItemIds = ({ response, input }: StoredResponse): string[] => {
  const taken = new Set<string>();
  return input.map((item, index) => {
    const id = item.id && !taken.has(item.id) ? item.id : `${response.id.replace('resp_', 'item_')}_${index}`;
    taken.add(id);
    return id;
  });
};

const toListed = (item: ConversationItem, id: string): Record<string, unknown> & { id: string } => {
  if (item.type !== undefined && item.type !== 'message') return { status: 'completed', ...item, id };
  const message = item as MessageItem;
  return { status: 'completed', ...message, type: 'message', id, content: toParts(message) };
};

/** A page of a response's input items. */
export const listInputItems = (stored: StoredResponse, { limit, order, after }: InputItemsQuery): Record<string, unknown> => {
  const ids = inputItemIds(stored);
  const listed = stored.input.map((item, index) => toListed(item, ids[index] as string));
  if (order === 'desc') listed.reverse();
  const from = after === undefined ? 0 : listed.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw new InvalidValue('after', 'expected the id of an item of this list');
  const data = listed.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < listed.length,
  };
};
