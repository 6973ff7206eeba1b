import { describe, expect, test } from '@jest/globals';
import {
  AUDIT_NAMES,
  type AuditValues,
  auditSearchOf,
  changeText,
  fieldsText,
  isNarrowed,
} from '../../../console/pages/audit-log/audit-query.ts';

const NOW_S = 1_795_694_696;
const none = Object.fromEntries(AUDIT_NAMES.map((name) => [name, ''])) as AuditValues;

describe('auditSearchOf', () => {
  test('searches the last 7 days if the address has no filter', () => {
    expect(auditSearchOf(none, NOW_S)).toEqual({ start_time: String(NOW_S - 7 * 86_400) });
  });

  test('sends every filter of the address', () => {
    const filters = { organization: 'org_1', action: 'api_key.', actor: 'ann@example.com', target: 'key_1' };
    expect(auditSearchOf({ ...none, ...filters, range: 'custom', from: '2026-11-25T10:00', to: '2026-11-25T11:00' }, NOW_S)).toEqual({
      ...filters,
      start_time: '1795600800',
      end_time: '1795604400',
    });
  });
});

describe('isNarrowed', () => {
  test('leaves out the time and the organization', () => {
    expect([isNarrowed({ ...none, range: '30d', organization: 'org_1' }), isNarrowed({ ...none, target: 'key_1' })]).toEqual([false, true]);
  });
});

describe('changeText', () => {
  test.each([
    [{ from: null, to: 'text' }, 'text'],
    [{ from: undefined, to: null }, '–'],
    [{ from: 600, to: 900 }, '900 (was 600)'],
    [{ from: { month: '5' }, to: null }, '– (was {"month":"5"})'],
    [{ from: true, to: false }, 'false (was true)'],
  ])('writes %j', (change, text) => {
    expect(changeText(change)).toBe(text);
  });
});

describe('fieldsText', () => {
  test('names a few fields, and counts many', () => {
    expect([fieldsText(['expires_at', 'name']), fieldsText(['a', 'b', 'c', 'd', 'e'])]).toEqual(['expires at, name', '5 fields']);
  });
});
