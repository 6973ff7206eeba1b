import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { pageQueryOf } from '../../../shared/http/page.ts';
import { validateQuery } from '../../../shared/http/validate-query.ts';

const Query = z.strictObject(pageQueryOf('key'));

describe('the cursor of a list by id', () => {
  test('is an id of that list, also one that no longer exists', () => {
    expect(validateQuery(Query, { after: 'key_VcLNNoaI1o1NXdlRf8' })).toEqual({ limit: 20, after: 'key_VcLNNoaI1o1NXdlRf8' });
  });

  test.each(['user_VcLNNoaI1o1NXdlRf8', 'key_', 'nothing', '', 'key_a#b', 'xkey_a'])('is not %j: 400', (after) => {
    const read = () => validateQuery(Query, { after });
    expect(read).toThrow(
      expect.objectContaining({ status: 400, param: 'after', message: expect.stringContaining('earlier page of this list') }),
    );
  });
});
