import { expect, test } from '@jest/globals';
import { templateOf } from '../../support/templates.ts';
import { all, byText, grantsOf } from './grants.ts';

test('the function control can do exactly this with objects: read what it shows or links to, and store files of tickets', () => {
  const ofBuckets = grantsOf(templateOf('control'), 'ControlRole').filter(([action]) => action.startsWith('s3:'));
  expect(ofBuckets.sort(byText)).toEqual(
    [
      ...all('s3', ['GetObject'], ['BillingFiles/*', 'Payloads/*']),
      ...all('s3', ['GetObject', 'PutObject'], ['TicketFiles/pending/*', 'TicketFiles/kept/*']),
    ].sort(byText),
  );
});
