import { expect, test } from '@jest/globals';
import { maxLifetimeSeconds } from '../../../../functions/machine-sign-in/token-exchange/max-lifetime.ts';

test.each([
  ['https://login.microsoftonline.com/t/v2.0', 7_200],
  ['https://login.microsoftonline.us/t/v2.0', 7_200],
  ['https://login.partner.microsoftonline.cn/t/v2.0', 7_200],
  ['https://sts.windows.net/t/', 7_200],
  ['https://login.microsoftonline.us.example.com/t/v2.0', 3_600],
  ['https://gitlab.com', 3_600],
])('tokens of %s can live for %i seconds', (issuer, seconds) => {
  expect(maxLifetimeSeconds(issuer)).toBe(seconds);
});
