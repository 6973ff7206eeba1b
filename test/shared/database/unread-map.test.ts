import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeAttributes } from '../../../shared/database/attribute-values.ts';
import { UnreadMap } from '../../../shared/database/unread-map.ts';
import { entry, hostileName } from './stored-attributes.ts';

const maps = fc.dictionary(hostileName, entry, { noNullPrototype: true, maxKeys: 12 });

test('writes a map that was not read as it was in the reply', () => {
  fc.assert(
    fc.property(maps, hostileName, (map, absent) => {
      const unread = new UnreadMap(writeAttributes(map));
      expect(unread.size).toBe(Object.keys(map).length);
      for (const [name, value] of Object.entries(map)) expect(unread.get(name)).toEqual(value);
      if (!Object.hasOwn(map, absent)) expect(unread.get(absent)).toBeUndefined();
      expect(unread.read()).toEqual(map);
    }),
    { numRuns: 2_000 },
  );
});
