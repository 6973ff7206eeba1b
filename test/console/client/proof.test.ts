import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { askForProofWith, proveIdentity } from '../../../console/client/proof.ts';

afterEach(() => askForProofWith(undefined));

describe('a proof of who the user is', () => {
  test('is asked for once by calls that wait for it together, and again by a later one', async () => {
    const answers: ((proved: boolean) => void)[] = [];
    const ask = jest.fn(() => new Promise<boolean>((resolve) => answers.push(resolve)));
    askForProofWith(ask);
    const together = Promise.all([proveIdentity(), proveIdentity()]);
    answers[0]?.(true);
    await together;
    expect(ask).toHaveBeenCalledTimes(1);
    const later = proveIdentity();
    answers[1]?.(true);
    await later;
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test('is missing if the user closes the dialog, or if there is none', async () => {
    askForProofWith(async () => false);
    await expect(proveIdentity()).rejects.toMatchObject({ code: 'fresh_login_required' });
    askForProofWith(undefined);
    await expect(proveIdentity()).rejects.toMatchObject({ code: 'fresh_login_required' });
  });
});
