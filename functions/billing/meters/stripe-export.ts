import { readSecret } from '../../../shared/aws/read-secret.ts';
import type { MeterExport } from './meter-export.ts';
import { createStripeMeters } from './stripe-meters.ts';

/**
 * Stripe's meters with the API key in a secret, which is read at the first call. Made for each task, so that a new key
 * is used soon.
 */
export const createStripeExport = (secretId: string, wait: (ms: number) => Promise<unknown>): MeterExport => {
  let key: Promise<string> | undefined;
  return createStripeMeters({
    apiKey: () => {
      key ??= readSecret(secretId);
      return key;
    },
    wait,
  });
};
