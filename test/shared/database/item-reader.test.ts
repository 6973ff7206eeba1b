import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Item } from '../../../shared/database/database.ts';
import { createItemReader } from '../../../shared/database/item-reader.ts';
import type { UnreadMap } from '../../../shared/database/unread-map.ts';
import { haveSameShape } from '../../support/clients/same-shape.ts';
import { asStored, replyWith } from './stored-attributes.ts';

describe('a limiter’s item', () => {
  const limiter = {
    id: 'key_1#3',
    org: 'org_1',
    status: 'active',
    h: new Uint8Array([1, 2, 255]),
    cfg: 4,
    lim_c: 12,
    prepaid: true,
    models: ['a', 'b "c"'],
    spent: 2n ** 60n,
    r179551961: 3,
    fl: { req_1: [1_795_519_615_376, 26, 5n], req_2: [1_795_519_615_377, null] },
  };

  test('is read whole', () => {
    const item = createItemReader('fl')(replyWith(limiter)) as Item;
    expect(asStored(item)).toEqual({ ...limiter, fl: { req_1: [1_795_519_615_376, 26, 5], req_2: [1_795_519_615_377, null] } });
    expect((item.fl as UnreadMap).size).toBe(2);
  });

  test('has the same hidden class whatever the order of its attributes', () => {
    const readItem = createItemReader('fl');
    const read = (attributes: Item): Item => readItem(replyWith(attributes)) as Item;
    const first = read(limiter);
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.entries(limiter), { minLength: Object.keys(limiter).length }), (shuffled) => {
        expect(haveSameShape(read(Object.fromEntries(shuffled)), first)).toBe(true);
      }),
    );
    // Not because any two objects had it.
    expect(haveSameShape(first, read({ ...limiter, r179551962: 1 }))).toBe(false);
  });

  test('keeps its hidden class while the names of counters change', () => {
    const readItem = createItemReader('fl');
    for (let slot = 0; slot < 500; slot++) {
      const attributes = Object.entries({ ...limiter, [`r${slot}`]: 1 });
      const [one, other] = [attributes, attributes.toReversed()].map((order) => readItem(replyWith(Object.fromEntries(order))) as Item);
      expect(haveSameShape(one as Item, other as Item)).toBe(true);
    }
  });
});

test.each([
  ['a text', '{"Attributes":{"id":{"S":"fl"},"fl":{"S":"x"}}}', { id: 'fl', fl: 'x' }],
  ['a list', '{"Attributes":{"fl":{"L":[{"N":"1"}]}}}', { fl: [1] }],
])('reads %s under the name of the map as it is', (_, reply, item) => {
  expect(createItemReader('fl')(reply)).toEqual(item);
});

test.each([
  ['nothing', '{}'],
  ['no attributes', '{"Attributes":{}}'],
  ['another reply', '{"Item":{"id":{"S":"x"}}}'],
  ['white space', '{"Attributes": {"id":{"S":"x"}}}'],
  ['white space between attributes', '{"Attributes":{"id":{"S":"x"}, "cfg":{"N":"1"}}}'],
  ['something after the attributes', '{"Attributes":{"id":{"S":"x"}},"ConsumedCapacity":{}}'],
  ['an unfinished attribute', '{"Attributes":{"id":{"S":"x'],
  ['an unfinished item', '{"Attributes":{"id":{"S":"x"}'],
  ['an unfinished map', '{"Attributes":{"fl":{"M":{"a":{"L":[{"N":"1"}'],
  ['an escape', '{"Attributes":{"id":{"S":"\\u0041"}}}'],
  ['a line break in a text', '{"Attributes":{"id":{"S":"a\nb"}}}'],
  ['a set in a list', '{"Attributes":{"id":{"L":[{"SS":["a"]}]}}}'],
  ['a map of something else', '{"Attributes":{"fl":{"M":{"a":{"N":"1"}}}}}'],
  ['a map of something else before one of lists', '{"Attributes":{"fl":{"M":{"a":{"N":"1"}}},"x":{"M":{"b":{"L":[]}}}}}'],
  ['another map', '{"Attributes":{"id":{"M":{"a":{"N":"1"}}}}}'],
  ['a list in a list', '{"Attributes":{"id":{"L":[{"L":[]},{"N":"1"}]}}}'],
  ['a set', '{"Attributes":{"id":{"SS":["a"]}}}'],
  ['a name that sets the prototype', '{"Attributes":{"__proto__":{"N":"1"}}}'],
])('leaves a reply with %s to JSON.parse', (_, reply) => {
  expect(createItemReader('fl')(reply)).toBeUndefined();
});
