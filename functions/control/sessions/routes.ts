import * as z from 'zod';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { UserNameUpdate } from '../../../shared/identity/user.ts';
import { createRoute } from '../access/route.ts';
import type { UserDependencies } from '../users/create-user.ts';
import { updateUser } from '../users/update-user.ts';
import type { SignedInUser } from './authenticate.ts';
import { endOwnSession, endOwnSessions, listOwnSessions, OwnSession } from './own-sessions.ts';
import { OwnUser, type OwnUserDependencies, retrieveOwnUser, toOwnUser } from './own-user.ts';
import { changePassword } from './passwords.ts';
import { endSession, type RefreshDependencies, refreshSession } from './refresh-session.ts';
import { finishTotp, proveIdentity, startTotp, stopTotp } from './second-factor.ts';
import { IdentityProof, PasswordChange, Refreshed, RefreshRequest, TotpCode, TotpSecret } from './session.ts';

const route = createRoute<RefreshDependencies & UserDependencies & OwnUserDependencies, SignedInUser>('Sessions');
const me = '/v1/me';
const password = 'correct-Horse-9-battery';
const token = 'eyJraWQiOiJ…';
const done = { status: 204, description: 'Success. The response has no body.' } as const;

export const sessionRoutes = [
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.refresh,
      operationId: 'refreshSession',
      summary: 'Get a new access token',
      access: 'public',
      body: { name: 'RefreshRequest', schema: RefreshRequest, example: { refresh_token: token } },
      reply: {
        status: 200,
        description: 'A new access token. The refresh token stays valid.',
        json: { name: 'Refreshed', schema: Refreshed },
      },
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => refreshSession(deps, caller, body.refresh_token),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.logout,
      operationId: 'logOut',
      summary: 'Log out',
      description: 'Ends the session: its refresh token and its access tokens are rejected from now on.',
      access: 'public',
      body: { name: 'RefreshRequest', schema: RefreshRequest, example: { refresh_token: token } },
      reply: done,
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => endSession(deps, caller, body.refresh_token),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.password,
      operationId: 'changePassword',
      summary: 'Change your password',
      description: 'Ends all your sessions, including this one. Log in again with the new password.',
      access: 'account:write',
      isOpenWithoutSecondFactor: true,
      isOpenToSuspended: true,
      body: {
        name: 'PasswordChange',
        schema: PasswordChange,
        example: { current_password: password, new_password: 'another-Horse-7-battery' },
      },
      reply: done,
      errors: [400, 429, 503],
    },
    ({ deps, actor, user, accessToken, body }) =>
      changePassword(deps, { actor, user, accessToken }, { current: body.current_password, next: body.new_password }),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.totp,
      operationId: 'startTotp',
      summary: 'Get a secret for an authenticator app',
      description: `The second factor stays off, or with the earlier app, until you send a code from the new app to POST ${AUTH_PATHS.verifyTotp}.`,
      access: 'account:write',
      isOpenWithoutSecondFactor: true,
      isOpenToSuspended: true,
      body: { name: 'IdentityProof', schema: IdentityProof, example: { current_password: password } },
      reply: { status: 200, description: 'The secret. It is shown only once.', json: { name: 'TotpSecret', schema: TotpSecret } },
      errors: [400, 429, 503],
    },
    ({ deps, actor, caller, accessToken, body }) => startTotp(deps, { actor, caller, proof: body }, accessToken),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.verifyTotp,
      operationId: 'verifyTotp',
      summary: 'Switch on your second factor',
      access: 'account:write',
      isOpenWithoutSecondFactor: true,
      isOpenToSuspended: true,
      body: { name: 'TotpCode', schema: TotpCode, example: { code: '123456' } },
      reply: done,
      errors: [400, 429, 503],
    },
    ({ deps, actor, user, accessToken, body }) => finishTotp(deps, { actor, user, accessToken }, body.code),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.disableTotp,
      operationId: 'stopTotp',
      summary: 'Switch off your second factor',
      description: 'Requires your password and a code from your authenticator app.',
      access: 'account:write',
      isOpenToSuspended: true,
      body: { name: 'IdentityProof', schema: IdentityProof, example: { current_password: password, code: '123456' } },
      reply: done,
      errors: [400, 409, 429, 503],
    },
    ({ deps, actor, caller, user, body }) => stopTotp(deps, { actor, caller, proof: body }, user),
  ),
  route(
    {
      method: 'GET',
      path: me,
      operationId: 'retrieveMe',
      summary: 'Retrieve your own user',
      access: 'account:read',
      isOpenWithoutSecondFactor: true,
      reply: { status: 200, description: 'Your user, with your permissions.', json: { name: 'OwnUser', schema: OwnUser } },
      errors: [503],
    },
    ({ deps, ...signedIn }) => retrieveOwnUser(deps, signedIn),
  ),
  route(
    {
      method: 'PATCH',
      path: me,
      operationId: 'updateMe',
      summary: 'Update your name',
      access: 'account:write',
      isVersioned: true,
      body: { name: 'OwnName', schema: UserNameUpdate, example: { name: 'Ada Lovelace' } },
      reply: { status: 200, description: 'Your updated user.', json: { name: 'OwnUser', schema: OwnUser } },
      errors: [400, 412, 503],
    },
    async ({ deps, body, expected, ...signedIn }) =>
      toOwnUser(deps, signedIn, await updateUser(deps, signedIn.actor, signedIn.actor.userId, body, expected)),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.proof,
      operationId: 'proveIdentity',
      summary: 'Prove who you are',
      description: 'Changes of money and rights require it if your login is too old. Your session stays the same.',
      access: 'account:write',
      isForPeople: true,
      isOpenToSuspended: true,
      body: { name: 'IdentityProof', schema: IdentityProof, example: { current_password: password, code: '123456' } },
      reply: done,
      errors: [400, 429, 503],
    },
    ({ deps, ...call }) => proveIdentity(deps, call),
  ),
  route(
    {
      method: 'GET',
      path: AUTH_PATHS.ownSessions,
      operationId: 'listOwnSessions',
      summary: 'List your sessions',
      description: 'Each login is a session until it ends, is ended, or its refresh token expires.',
      access: 'account:read',
      isForPeople: true,
      reply: {
        status: 200,
        description: 'At most 1,000 sessions, the last used first.',
        json: { name: 'OwnSessionList', schema: z.object({ object: z.literal('list'), data: z.array(OwnSession) }) },
      },
      errors: [503],
    },
    ({ deps, ...signedIn }) => listOwnSessions(deps, signedIn),
  ),
  route(
    {
      method: 'DELETE',
      path: `${AUTH_PATHS.ownSessions}/{id}`,
      operationId: 'endOwnSession',
      summary: 'End one of your sessions',
      description: 'Its refresh token and its access tokens are rejected from now on.',
      access: 'account:write',
      isForPeople: true,
      isOpenToSuspended: true,
      parameters: { id: { description: 'The id of a session.', example: 'ses_0q8Xc2VwQy41mTzNbR' } },
      reply: done,
      errors: [404, 503],
    },
    ({ deps, parameters: { id = '' }, ...signedIn }) => endOwnSession(deps, signedIn, id),
  ),
  route(
    {
      method: 'DELETE',
      path: AUTH_PATHS.ownSessions,
      operationId: 'endOwnSessions',
      summary: 'End your sessions',
      description: 'Ends all of them but the one that sends this request, or with `keep_current=false` that one too.',
      access: 'account:write',
      isForPeople: true,
      isOpenToSuspended: true,
      query: z.strictObject({
        keep_current: z
          .enum(['true', 'false'])
          .default('true')
          .meta({ description: 'Whether the session that sends this request goes on.' }),
      }),
      reply: done,
      errors: [400, 429, 503],
    },
    ({ deps, query: { keep_current }, ...signedIn }) => endOwnSessions(deps, signedIn, { keepsCurrent: keep_current === 'true' }),
  ),
];
