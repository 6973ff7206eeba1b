import { expect, test } from '@jest/globals';
import { retryOvertaken } from '../../../functions/control/retry-overtaken.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';

const failing = (times: number, error: Error) => async (tries: number) => {
  if (tries <= times) throw error;
  return tries;
};
const retries = { what: 'The limiter of org_1', maxTries: 3, by: [PreconditionFailed] };

test('makes a change again while another one comes first, and returns its result', async () => {
  expect(await retryOvertaken(retries, failing(2, new PreconditionFailed()))).toBe(3);
});

test('fails with 503 if another change comes first each time, and names the resource in the log', async () => {
  const failure = { status: 503, cause: new Error('The limiter of org_1 changed during each of 3 tries.') };
  await expect(retryOvertaken(retries, failing(3, new PreconditionFailed()))).rejects.toMatchObject(failure);
});

test('throws any other error of the change at once', async () => {
  const error = new Error('Out of credit.');
  await expect(retryOvertaken(retries, failing(1, error))).rejects.toBe(error);
});
