import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deploymentMark, type Entry, readEntry, storedEntry } from '../../../../shared/admission/item/reservation-entry.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const AnyEntry: fc.Arbitrary<Entry> = fc
  .record({
    admittedAtMs: fc.nat(),
    tokens: fc.option(fc.nat(), { nil: undefined }),
    holdNanos: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    isFromCredit: fc.boolean(),
    link: fc.oneof(fc.boolean(), fc.constant('key_1')),
    deployment: fc.option(fc.constant(deploymentMark(newId('deployment'))), { nil: undefined }),
    user: fc.option(fc.constant('0123456789abcdef'), { nil: undefined }),
    project: fc.option(fc.constant(newId('project')), { nil: undefined }),
  })
  .map(({ deployment, user, project, ...entry }) => ({
    ...entry,
    ...(deployment !== undefined && { deployment }),
    ...(user !== undefined && { user }),
    ...(project !== undefined && { project }),
  }));

test('reads an entry as it was stored', () => {
  fc.assert(fc.property(AnyEntry, (entry) => expect(readEntry(storedEntry(entry))).toEqual(entry)));
});

test('stores an entry without a deployment without a mark', () => {
  expect(storedEntry({ admittedAtMs: 1, tokens: 2, holdNanos: 0n, isFromCredit: false, link: false })).toEqual([1, 2]);
});
