import { expect, test } from '@jest/globals';
import { parseJson } from '../../../console/client/json.ts';

test('JSON keeps the digits of integers that a number cannot hold, and leaves all else', () => {
  expect(parseJson('{"tokens":9007199254740993,"ratio":0.25,"count":12,"big":1e300,"text":"9007199254740993"}')).toEqual({
    tokens: '9007199254740993',
    ratio: 0.25,
    count: 12,
    big: 1e300,
    text: '9007199254740993',
  });
});
