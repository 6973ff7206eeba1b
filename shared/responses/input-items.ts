import * as z from 'zod';
import { InvalidRequest } from '../http/errors.ts';
import type { Item, MessageItem } from './item.ts';
import type { StoredResponse } from './response-store.ts';

const MAX_PAGE = 100;

/** How a caller pages through a list, as its query says it. */
export const InputItemsQuery = z.object({
  limit: z.coerce
    .number({ error: `expected a number from 1 to ${MAX_PAGE}` })
    .int()
    .min(1)
    .max(MAX_PAGE)
    .default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
});
export type InputItemsQuery = z.output<typeof InputItemsQuery>;

const toParts = ({ role, content }: MessageItem): unknown => {
  if (typeof content !== 'string') return content;
  return [
    role === 'assistant' ? { type: 'output_text', text: content, annotations: [], logprobs: [] } : { type: 'input_text', text: content },
  ];
};

/** An item as it is listed: with an id, if it came without one, and its content in parts. */
const toListed = (item: Item, fallbackId: string): Record<string, unknown> & { id: string } => {
  const id = item.id ?? fallbackId;
  if (item.type !== undefined && item.type !== 'message') return { status: 'completed', ...item, id };
  const message = item as MessageItem;
  return { status: 'completed', ...message, type: 'message', id, content: toParts(message) };
};

/** A page of the input that a response answers. */
export const listInputItems = ({ response, input }: StoredResponse, { limit, order, after }: InputItemsQuery): Record<string, unknown> => {
  const listed = input.map((item, index) => toListed(item, `${response.id.replace('resp_', 'item_')}_${index}`));
  if (order === 'desc') listed.reverse();
  const from = after === undefined ? 0 : listed.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0)
    throw new InvalidRequest({ param: 'after', message: `Invalid value for 'after': expected the id of an item of this list.` });
  const data = listed.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < listed.length,
  };
};
