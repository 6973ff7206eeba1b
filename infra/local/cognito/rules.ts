import * as z from 'zod';
import { AwsError } from '../http/json-api.ts';
import { createChallenges } from './challenges.ts';
import { createCustomAuth } from './custom-auth.ts';
import { createCreateUser, createSetPassword } from './invitations.ts';
import { createChangePassword, createResetRules } from './password-rules.ts';
import { type Rule, type RuleContext, readRequest, toName } from './rule.ts';
import { createAssociate, createOwnPreference, createPreference, createVerify } from './second-factor.ts';
import { createGetTokens, createInitiateAuth, createPublicInitiateAuth } from './sign-in.ts';
import { createRevoke, createSignOut } from './sign-out.ts';

// cognito-local handles these as AWS does.
const FORWARDED = ['AdminDeleteUser', 'AdminDisableUser', 'AdminEnableUser', 'AdminGetUser'];

const Named = z.looseObject({ Username: z.string() });

const CustomAuth = z.union([
  z.looseObject({ AuthFlow: z.literal('CUSTOM_AUTH') }),
  z.looseObject({ ChallengeName: z.literal('CUSTOM_CHALLENGE') }),
]);

/** True for a call of a sign-in that the app's functions decide. It changes nothing at cognito-local. */
export const isOfCustomAuth = (request: unknown): boolean => CustomAuth.safeParse(request).success;

/** Creates the handler of all actions. It throws an AwsError for an error response, including an unknown action. */
export const createRules = (context: RuleContext): ((action: string, request: unknown) => Promise<object>) => {
  const { ask, respond } = createChallenges(context);
  const customAuth = createCustomAuth(context);
  const resets = createResetRules(context);
  const forward =
    (action: string): Rule =>
    (request) => {
      const named = readRequest(Named, request);
      return context.backend.call(action, { ...named, Username: toName(named.Username) });
    };
  const rules = new Map<string, Rule>([
    ...FORWARDED.map((action): [string, Rule] => [action, forward(action)]),
    ['AdminCreateUser', createCreateUser(context)],
    ['AdminInitiateAuth', createInitiateAuth(context, { ask, customAuth: customAuth.initiate })],
    ['AdminRespondToAuthChallenge', (request) => (isOfCustomAuth(request) ? customAuth.respond(request) : respond(request))],
    ['AdminSetUserMFAPreference', createPreference(context)],
    ['AdminSetUserPassword', createSetPassword(context)],
    ['AdminUserGlobalSignOut', createSignOut(context)],
    ['AssociateSoftwareToken', createAssociate(context)],
    ['ChangePassword', createChangePassword(context)],
    ['ConfirmForgotPassword', resets.confirm],
    ['ForgotPassword', resets.forgot],
    ['GetTokensFromRefreshToken', createGetTokens(context)],
    ['InitiateAuth', createPublicInitiateAuth(context, customAuth.initiate)],
    ['RespondToAuthChallenge', customAuth.respond],
    ['RevokeToken', createRevoke(context)],
    ['SetUserMFAPreference', createOwnPreference(context)],
    ['VerifySoftwareToken', createVerify(context)],
  ]);
  return async (action, request) => {
    const rule = rules.get(action);
    if (!rule) throw new AwsError('UnknownOperationException', `The local run does not support Cognito's ${action}.`);
    return rule(request);
  };
};
