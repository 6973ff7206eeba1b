import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { queryParametersOf } from '../../../../functions/control/access/query-parameters.ts';

const Query = z.strictObject({
  limit: z.string().optional(),
  status: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

const parametersOf = (values: Record<string, string[]>) =>
  queryParametersOf(Query, {
    queryStringParameters: Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1)])),
    multiValueQueryStringParameters: values,
  });

describe('the query parameters', () => {
  test('can repeat a list, with and without brackets', () => {
    expect(parametersOf({ status: ['a', 'b'], 'status[]': ['c', 'd'] })).toEqual({ status: ['a', 'b', 'c', 'd'] });
  });

  test('have a record of each of its keys', () => {
    expect(parametersOf({ 'metadata[team]': ['a'], 'metadata[env]': ['b'] })).toEqual({ metadata: { team: 'a', env: 'b' } });
  });

  test.each(['limit', 'metadata[team]', 'unknown'])('can not repeat %s: 400', (name) => {
    const refused = { status: 400, param: name, message: `Invalid value for '${name}': expected it once.` };
    expect(() => parametersOf({ [name]: ['1', '2'] })).toThrow(expect.objectContaining(refused));
  });
});
