import { describe, expect, test } from '@jest/globals';
import { ReservedConcurrency } from '../../../../infra/config/config.ts';
import { CannotDeploy, decideReservation } from '../../../../infra/tools/deploy/reservation.ts';

const defaults = ReservedConcurrency.parse({});
const newAccount = { limit: 10, available: 0 };

describe('the reservation of a deployment', () => {
  test('is the default numbers if the account has room for all of them', () => {
    expect(decideReservation(undefined, { limit: 1_000, available: 896 })).toEqual({
      reservedConcurrency: defaults,
      notice: "Reserving 896 of the account's 1000 concurrent executions.",
    });
  });

  test.each([newAccount, { limit: 1_000, available: 887 }])('is nothing if the account has less room, and says so: %j', (account) => {
    const { reservedConcurrency, notice } = decideReservation(undefined, account);
    expect(reservedConcurrency).toBeNull();
    expect(notice).toContain(`can reserve ${account.available} of them for Sluice, but 896 are needed. Nothing is reserved`);
    expect(notice).toContain('Service Quotas');
  });

  test('is what the deployer has set, or an error before anything is deployed', () => {
    const setting = ReservedConcurrency.parse({ inference: 20, 'ondemand-inference': 20, tokenizer: 5 });
    // With the defaults of the others.
    expect(decideReservation(setting, { limit: 300, available: 221 }).reservedConcurrency).toEqual(setting);
    expect(() => decideReservation(setting, newAccount)).toThrow(CannotDeploy);
    expect(() => decideReservation(setting, newAccount)).toThrow(
      "can reserve 0 of them for Sluice, but 221 are set in 'reservedConcurrency'. Lower them or set it to null.",
    );
  });
});
