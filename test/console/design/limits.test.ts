import { describe, expect, test } from '@jest/globals';
import { faultOfCount, faultsOfCounts, MOST_LIMITS } from '../../../console/design/format/limits.ts';
import { faultOfApiKeys } from '../../../console/pages/users/user-draft.ts';
import { KeyLimits, OrganizationLimits, PerUserLimits } from '../../../functions/control/limits/limits.ts';
import { MaxApiKeys } from '../../../shared/identity/user.ts';

describe('the fault of a limit that is typed', () => {
  test.each(Object.entries(MOST_LIMITS))('is missing exactly where the API takes the %s', (name, most) => {
    for (const limit of [0, most, most + 1])
      for (const schema of [KeyLimits, PerUserLimits, OrganizationLimits])
        expect(faultOfCount(String(limit), most) === undefined).toBe(schema.safeParse({ [name]: limit }).success);
  });

  test('says what to enter instead, and is missing for an empty field', () => {
    const fields = { requests_per_minute: 'requests', tokens_per_minute: 'tokens', concurrency: 'atOnce' } as const;
    expect(faultsOfCounts({ requests: '1000001', tokens: '', atOnce: '1.5' }, fields)).toEqual({
      requests: 'Enter at most 1,000,000.',
      atOnce: 'Enter a whole number.',
    });
  });

  test.each(['0', '1000', '1001', '-1'])('is missing exactly where the API takes the number of API keys: %s', (maxApiKeys) => {
    expect(faultOfApiKeys({ maxApiKeys }) === undefined).toBe(MaxApiKeys.safeParse(Number(maxApiKeys)).success);
  });
});
