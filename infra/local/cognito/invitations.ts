import * as z from 'zod';
import type { UserPool } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';
import { userNotFound } from './errors.ts';
import { checkPassword, createTemporaryPassword } from './passwords.ts';
import { findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';

const CreateUser = z.looseObject({
  UserPoolId: z.string(),
  Username: z.string(),
  TemporaryPassword: z.string().optional(),
  MessageAction: z.enum(['RESEND', 'SUPPRESS']).optional(),
  UserAttributes: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
});

/**
 * AdminCreateUser: checks the temporary password, stores the email address in lower case and can resend the
 * invitation.
 */
export const createCreateUser =
  (context: RuleContext): Rule =>
  async (request) => {
    const { MessageAction, TemporaryPassword, ...user } = readRequest(CreateUser, request);
    const pool = findPool(context, user.UserPoolId);
    const email = toName(user.Username);
    const password = TemporaryPassword ?? createTemporaryPassword();
    checkPassword(password, pool.passwords);
    const response =
      MessageAction === 'RESEND'
        ? await renew(context, pool, email, password)
        : await context.backend.call('AdminCreateUser', {
            ...user,
            Username: email,
            UserAttributes: user.UserAttributes.map(({ Name, Value }) => ({ Name, Value: Name === 'email' ? toName(Value) : Value })),
            TemporaryPassword: password,
            MessageAction: 'SUPPRESS',
          });
    if (MessageAction !== 'SUPPRESS') await context.mailbox.send({ to: email, kind: 'invitation', code: password });
    return response;
  };

const SetPassword = z.object({ UserPoolId: z.string(), Username: z.string(), Password: z.string(), Permanent: z.boolean().default(false) });

/** AdminSetUserPassword: checks the password. Without Permanent it is temporary. */
export const createSetPassword =
  (context: RuleContext): Rule =>
  async (request) => {
    const { UserPoolId, Username, Password, Permanent } = readRequest(SetPassword, request);
    const pool = findPool(context, UserPoolId);
    if (!(await context.backend.user(pool, toName(Username)))) throw userNotFound();
    checkPassword(Password, pool.passwords);
    await context.backend.setPassword(pool, toName(Username), Password, Permanent);
    return {};
  };

const renew = async ({ backend }: RuleContext, pool: UserPool, email: string, password: string): Promise<object> => {
  const user = await backend.user(pool, email);
  if (!user) throw userNotFound();
  if (!user.hasTemporaryPassword)
    throw new AwsError('UnsupportedUserStateException', `Resend not possible. ${email} status is not FORCE_CHANGE_PASSWORD`);
  await backend.setPassword(pool, email, password, false);
  return { User: user.description };
};
