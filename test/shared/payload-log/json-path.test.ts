import { expect, test } from '@jest/globals';
import { ANY, parseJsonPath } from '../../../shared/payload-log/json-path.ts';

test.each([
  ['$.messages[*].content', ['messages', ANY, 'content']],
  ["$['a b'][0].*", ['a b', 0, ANY]],
  ['$.a-b._c', ['a-b', '_c']],
])('reads %s', (path, segments) => expect(parseJsonPath(path)).toEqual(segments));

test.each([
  '',
  '$',
  'messages',
  '$.',
  '$..a',
  '$[?(@.a)]',
  '$[-1]',
  '$[0:2]',
  '$.a ',
  "$['a\\'b']",
  `$${'.a'.repeat(17)}`,
  `$.${'a'.repeat(200)}`,
])('rejects %j', (path) => expect(parseJsonPath(path)).toBeUndefined());
