import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readAttributes } from '../../../shared/database/attribute-values.ts';
import { createItemReader } from '../../../shared/database/item-reader.ts';
import { UnreadMap } from '../../../shared/database/unread-map.ts';
import { asStored, entry, hostileName, replyWith, storedText } from './stored-attributes.ts';

// A file of its own: after objects with thousands of different names, V8 gives new objects no shared hidden class.

const scalar = fc.oneof(hostileName, fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }));
const map = fc.dictionary(storedText, entry, { noNullPrototype: true, maxKeys: 3 });
const value = fc.oneof({ weight: 8, arbitrary: scalar }, fc.boolean(), fc.constant(null), fc.uint8Array({ maxLength: 9 }), entry, map);
const items = fc.dictionary(hostileName, value, { noNullPrototype: true, maxKeys: 8 });
const inFlight = fc.dictionary(hostileName, entry, { noNullPrototype: true, maxKeys: 5 });

test('reads an item as JSON.parse does, or not at all', () => {
  const readItem = createItemReader('fl');
  let read = 0;
  fc.assert(
    fc.property(items, fc.option(inFlight), (others, fl) => {
      const stored = { ...others, ...(fl && { fl }) };
      // With another type, the attribute that is left unread is no map of lists.
      fc.pre(fl !== null || typeof stored.fl !== 'object');
      const item = readItem(replyWith(stored));
      if (!item) return;
      read++;
      expect(asStored(item)).toEqual(readAttributes(JSON.parse(replyWith(stored)).Attributes));
      if (fl) expect(item.fl).toBeInstanceOf(UnreadMap);
    }),
    { numRuns: 3_000 },
  );
  // The test would pass if nothing was read.
  expect(read).toBeGreaterThan(300);
});
