import { randomInt } from 'node:crypto';
import * as z from 'zod';
import { AwsError } from '../http/json-api.ts';
import { readAccessToken } from './access-token.ts';
import { isAwsError, notAuthorized, wrongPassword } from './errors.ts';
import { checkPassword } from './passwords.ts';
import { findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';

const CODE_LIFETIME_MS = 60 * 60_000;
const MAX_WRONG_CODES = 5;
const MAX_RESETS = 10_000;
const CODES = 1_000_000;

interface Reset {
  /** undefined: the user does not exist or is disabled. */
  code: string | undefined;
  expiresAtMs: number;
  wrongCodes: number;
}

const Change = z.object({ AccessToken: z.string(), PreviousPassword: z.string(), ProposedPassword: z.string() });
const Forgot = z.object({ ClientId: z.string(), Username: z.string() });
const Confirm = z.object({ ClientId: z.string(), Username: z.string(), ConfirmationCode: z.string(), Password: z.string() });

/** ChangePassword: the previous password must be correct, and the new one must meet the policy. */
export const createChangePassword =
  (context: RuleContext): Rule =>
  async (request) => {
    const change = readRequest(Change, request);
    const { clientId } = readAccessToken(change.AccessToken, context.tokenTime);
    checkPassword(change.ProposedPassword, findPool(context, clientId).passwords);
    try {
      return await context.backend.call('ChangePassword', change);
    } catch (error) {
      throw isAwsError(error, 'InvalidPasswordException') ? wrongPassword() : error;
    }
  };

/**
 * ForgotPassword and ConfirmForgotPassword, with the same responses for unknown users. A code is valid once, for an
 * hour, in memory.
 */
export const createResetRules = (context: RuleContext): { forgot: Rule; confirm: Rule } => {
  const { backend, mailbox, now } = context;
  const resets = new Map<string, Reset>();

  const forgot: Rule = async (request) => {
    const { ClientId, Username } = readRequest(Forgot, request);
    const pool = findPool(context, ClientId);
    const name = toName(Username);
    const user = await backend.user(pool, name);
    if (user?.isEnabled && user.hasTemporaryPassword) throw notAuthorized('User password cannot be reset in the current state.');
    const code = user?.isEnabled ? String(randomInt(CODES)).padStart(6, '0') : undefined;
    const [oldest] = resets.keys();
    if (resets.size >= MAX_RESETS && oldest !== undefined) resets.delete(oldest);
    resets.set(`${pool.id}/${name}`, { code, expiresAtMs: now() + CODE_LIFETIME_MS, wrongCodes: 0 });
    if (user && code !== undefined) await mailbox.send({ to: user.email, kind: 'password_reset', code });
    return { CodeDeliveryDetails: { AttributeName: 'email', DeliveryMedium: 'EMAIL', Destination: mask(name) } };
  };

  const confirm: Rule = async (request) => {
    const { ClientId, Username, ConfirmationCode, Password } = readRequest(Confirm, request);
    const pool = findPool(context, ClientId);
    const name = toName(Username);
    checkPassword(Password, pool.passwords);
    const reset = resets.get(`${pool.id}/${name}`);
    if (reset && reset.wrongCodes >= MAX_WRONG_CODES)
      throw new AwsError('LimitExceededException', 'Attempt limit exceeded, please try after some time.');
    if (reset?.code !== ConfirmationCode) {
      if (reset) reset.wrongCodes += 1;
      throw new AwsError('CodeMismatchException', 'Invalid verification code provided, please try again.');
    }
    if (now() >= reset.expiresAtMs) throw new AwsError('ExpiredCodeException', 'Invalid code provided, please request a code again.');
    resets.delete(`${pool.id}/${name}`);
    await backend.setPassword(pool, name, Password, true);
    return {};
  };

  return { forgot, confirm };
};

// `ada@example.com` → `a***@e***`
const mask = (email: string): string => email.replace(/^(.)[^@]*(@.).*$/, '$1***$2***');
