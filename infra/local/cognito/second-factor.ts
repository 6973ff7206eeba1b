import * as z from 'zod';
import { AwsError } from '../http/json-api.ts';
import { forgeAccessToken, readAccessToken } from './access-token.ts';
import { isAwsError, userNotFound } from './errors.ts';
import { findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';

const Associate = z.object({ AccessToken: z.string() });
const Verify = z.object({ AccessToken: z.string(), UserCode: z.string() });
const Prefer = z.object({
  UserPoolId: z.string(),
  Username: z.string(),
  SoftwareTokenMfaSettings: z.object({ Enabled: z.boolean().default(false), PreferredMfa: z.boolean().default(false) }).optional(),
});

const PreferOwn = z.looseObject({ AccessToken: z.string() });

const OFF = { SoftwareTokenMfaSettings: { Enabled: false, PreferredMfa: false } };

/** AssociateSoftwareToken: turns codes at sign-in off, so that users who do not finish the setup are not locked out. */
export const createAssociate =
  (context: RuleContext): Rule =>
  async (request) => {
    const { AccessToken } = readRequest(Associate, request);
    const { clientId } = readAccessToken(AccessToken, context.tokenTime);
    if (!findPool(context, clientId).hasTotp)
      throw new AwsError('SoftwareTokenMFANotFoundException', 'Software token MFA is not enabled for the userPool.');
    const response = await context.backend.call('AssociateSoftwareToken', { AccessToken });
    await context.backend.call('SetUserMFAPreference', { AccessToken, ...OFF });
    return response;
  };

/** VerifySoftwareToken: a correct code does not yet turn codes at sign-in on. */
export const createVerify =
  (context: RuleContext): Rule =>
  async (request) => {
    const { AccessToken, UserCode } = readRequest(Verify, request);
    readAccessToken(AccessToken, context.tokenTime);
    try {
      const response = await context.backend.call('VerifySoftwareToken', { AccessToken, UserCode });
      await context.backend.call('SetUserMFAPreference', { AccessToken, ...OFF });
      return response;
    } catch (error) {
      throw isAwsError(error, 'CodeMismatchException') ? new AwsError('EnableSoftwareTokenMFAException', 'Code mismatch') : error;
    }
  };

/** SetUserMFAPreference. */
export const createOwnPreference =
  (context: RuleContext): Rule =>
  async (request) => {
    const preference = readRequest(PreferOwn, request);
    readAccessToken(preference.AccessToken, context.tokenTime);
    return context.backend.call('SetUserMFAPreference', preference);
  };

/** AdminSetUserMFAPreference, which cognito-local lacks; it has SetUserMFAPreference only. */
export const createPreference =
  (context: RuleContext): Rule =>
  async (request) => {
    const { UserPoolId, Username, SoftwareTokenMfaSettings } = readRequest(Prefer, request);
    const pool = findPool(context, UserPoolId);
    const user = await context.backend.user(pool, toName(Username));
    if (!user) throw userNotFound();
    const AccessToken = forgeAccessToken(user.subject, pool.clients[0].id);
    return context.backend.call('SetUserMFAPreference', { AccessToken, SoftwareTokenMfaSettings });
  };
