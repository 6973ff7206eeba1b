import { describe, expect, test } from '@jest/globals';
import { nextPart } from '../../../console/client/next-part.ts';
import { MAX_PARTS, readParts } from '../../../console/client/read-parts.ts';

const partOf = (text: string, after?: string): Response =>
  new Response(text, { headers: after === undefined ? {} : { link: `<?after=${after}>; rel="next"` } });

const nothing = (): void => undefined;

describe('readParts', () => {
  test('puts the parts of a CSV file together with one line of names', async () => {
    const seen: (string | undefined)[] = [];
    const counts: number[] = [];
    const parts = await readParts(
      async (after) => {
        seen.push(after);
        return after === undefined ? partOf('id\r\na\r\n', 'page_2') : partOf('id\r\nb\r\n');
      },
      { hasHead: true, onPart: (count) => counts.push(count) },
    );
    expect(parts).toEqual({ texts: ['id\r\na\r\n', 'b\r\n'], isCut: false });
    expect([seen, counts]).toEqual([
      [undefined, 'page_2'],
      [1, 2],
    ]);
  });

  test('keeps all lines of a file without names', async () => {
    const read = async (after: string | undefined) => (after === undefined ? partOf('{}\n', 'b') : partOf('{"b":1}\n'));
    expect((await readParts(read, { hasHead: false, onPart: nothing })).texts).toEqual(['{}\n', '{"b":1}\n']);
  });

  test('ends after ten parts, and says that there are more', async () => {
    const { texts, isCut } = await readParts(async () => partOf('x', 'more'), { hasHead: false, onPart: nothing });
    expect([texts.length, isCut]).toEqual([MAX_PARTS, true]);
  });
});

describe('nextPart', () => {
  test.each([
    ['<?status=5xx&after=page_WyJ4Il0>; rel="next"', 'page_WyJ4Il0'],
    ['<?after=a%2Bb>; rel="next"', 'a+b'],
    ['<?status=5xx>; rel="next"', undefined],
    [null, undefined],
  ])('reads the cursor of %j', (link, cursor) => {
    expect(nextPart(link)).toBe(cursor);
  });
});
