import type { ItemEvent, OutputItem } from '../../../../shared/responses/output-item.ts';

/** The event that an item has begun, with the item as it is now. */
export const added = (index: number, item: OutputItem): ItemEvent => ({
  type: 'response.output_item.added',
  output_index: index,
  item: structuredClone(item),
});

/** The event that an item is complete. */
export const done = (index: number, item: OutputItem): ItemEvent => ({ type: 'response.output_item.done', output_index: index, item });
