import fc from 'fast-check';
import { writeAttributes } from '../../../shared/database/attribute-values.ts';
import type { Item } from '../../../shared/database/database.ts';
import { UnreadMap } from '../../../shared/database/unread-map.ts';

/**
 * Without a quote alone: Node 24.21 parses the name in `{"a":0,"\"":0}` as a backslash. Without the end of a list,
 * which no name or text of ours has.
 */
export const storedText = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes(']}') && one !== '"');

// Names and text that look like parts of an item in DynamoDB's JSON.
const parts = [
  'fl',
  '":{"L":[',
  '"fl":{"M":{',
  '{"L":[',
  '}}',
  '},{',
  '},"',
  ':{',
  ':{"',
  'N":"1',
  '\\',
  'a"',
  '__proto__',
  'constructor',
  '',
];

/** Text of any kind, or such parts. */
export const hostileName = fc.oneof(storedText, fc.constantFrom(...parts));

/** An entry of a map of lists. */
export const entry = fc.array(fc.oneof(fc.maxSafeInteger(), hostileName, fc.constant(null), fc.boolean()), { maxLength: 6 });

/** DynamoDB's reply to an update that returns an item. */
export const replyWith = (item: Item): string => `{"Attributes":${writeAttributes(item)}}`;

/** An item as it was stored. */
export const asStored = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, value instanceof UnreadMap ? value.read() : value]));
