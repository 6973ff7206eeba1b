import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readAttributes, writeAttributes } from '../../../shared/database/attribute-values.ts';
import { leaveUnread, unreadMapOf } from '../../../shared/database/unread-map.ts';

/** Without a quote alone: Node 24.21 parses the name in `{"a":0,"\"":0}` as a backslash. */
const text = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes(']}') && one !== '"');
/** Names and text that look like parts of the map. */
const hostile = fc.constantFrom('fl', '":{"L":[', '"fl":{"M":{', '{"L":[', '}}', '},{', '\\', 'a"', '__proto__', 'constructor', '');
const name = fc.oneof(text, hostile);
const entry = fc.array(fc.oneof(fc.maxSafeInteger(), name, fc.constant(null), fc.boolean()), { maxLength: 6 });
const map = fc.dictionary(name, entry, { noNullPrototype: true, maxKeys: 12 });
const rest = fc.dictionary(
  name.filter((one) => one !== 'fl' && !one.endsWith('"fl')),
  fc.oneof(name, fc.maxSafeInteger(), entry, fc.dictionary(text, entry, { noNullPrototype: true, maxKeys: 3 })),
  { noNullPrototype: true, maxKeys: 5 },
);

/** Reads a reply as the database client does. */
const readReply = (reply: string) => {
  const without = leaveUnread('fl')(reply);
  const item = readAttributes(JSON.parse(without?.json ?? reply).Attributes);
  const rest = { ...item };
  without?.putInto(item);
  return { item, rest, unread: unreadMapOf(item) };
};

test('a map that is left unread has what it had in the reply, and leaves the rest as it was', () => {
  fc.assert(
    fc.property(rest, map, rest, name, (before, fl, after, absent) => {
      const stored = { ...before, fl, ...after };
      const { item, rest, unread } = readReply(`{"Attributes":${writeAttributes(stored)}}`);
      expect(rest).toEqual({ ...stored, fl: {} });
      expect(unread?.size).toBe(Object.keys(fl).length);
      for (const [one, value] of Object.entries(fl)) expect(unread?.get(one)).toEqual(value);
      if (!Object.hasOwn(fl, absent)) expect(unread?.get(absent)).toBeUndefined();
      expect(item).toEqual(stored);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['a string', '{"Attributes":{"id":{"S":"fl"}}}'],
  ['a list', '{"Attributes":{"fl":{"L":[]}}}'],
  ['a map of something else', '{"Attributes":{"fl":{"M":{"a":{"N":"1"}}}}}'],
])('%s is read as it is', (_, reply) => {
  const { item, unread } = readReply(reply);
  expect(unread).toBeUndefined();
  expect(item).toEqual(readAttributes(JSON.parse(reply).Attributes));
});

describe('an item with such a map', () => {
  const { item } = readReply('{"Attributes":{"id":{"S":"x"},"fl":{"M":{"a":{"L":[{"N":"1"}]}}}}}');

  test('has the map as if it had been read, also in its copies', () => {
    expect({ ...item }).toEqual({ id: 'x', fl: { a: [1] } });
    expect(JSON.parse(JSON.stringify(item))).toEqual({ id: 'x', fl: { a: [1] } });
    expect(item.fl).toBe(item.fl);
  });

  test('is told from its copies, whose maps can be others', () => {
    expect(unreadMapOf(item)?.get('a')).toEqual([1]);
    expect(unreadMapOf({ ...item, fl: {} })).toBeUndefined();
  });
});
