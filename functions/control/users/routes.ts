import * as z from 'zod';
import { pageOf } from '../../../shared/http/page.ts';
import type { SessionEndDependencies } from '../../../shared/identity/sessions.ts';
import { User } from '../../../shared/identity/user.ts';
import { toWire } from '../../../shared/identity/user-store.ts';
import { createRoute } from '../access/route.ts';
import { SHORT_PAGES } from '../lists/filtered-page.ts';
import { type InvitationDependencies, inviteUser, NewUser, resendInvitation } from './invitations.ts';
import { listUsers, UsersQuery } from './list-users.ts';
import { type AccessDependencies, ChangedUser, changeUser, DeletedUser, deleteUser, UserChange } from './remove-access.ts';
import { resetTotp } from './reset-totp.ts';
import { visibleUser } from './update-user.ts';

const route = createRoute<InvitationDependencies & SessionEndDependencies & AccessDependencies>('Users');
const users = '/v1/users';
const oneUser = `${users}/{id}`;
const parameters = { id: { description: 'The id of a user.', example: 'user_0q8Xc2VwQy41mTzNbR' } } as const;
const user = { name: 'User', schema: User };

const DeletionQuery = z.strictObject({
  revoke_keys: z.enum(['true', 'false']).default('false').meta({ description: 'Whether to revoke the API keys that the user created.' }),
});

export const userRoutes = [
  route(
    {
      method: 'POST',
      path: users,
      operationId: 'inviteUser',
      summary: 'Invite a user',
      description:
        'Owners can invite to their own organization, admins to any. Sluice emails the invitation unless you send a temporary password.',
      access: 'users:write',
      needsFreshLogin: true,
      limits: ['invitations', 'invitations_to_address'],
      body: { name: 'NewUser', schema: NewUser, example: { email: 'grace@example.com', name: 'Grace', role: 'member' } },
      reply: { status: 201, description: 'The new user.', json: user },
      errors: [400, 404, 409, 429, 503],
    },
    ({ deps, actor, body }) => inviteUser(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: users,
      operationId: 'listUsers',
      summary: 'List users',
      description: SHORT_PAGES,
      access: 'users:list',
      query: UsersQuery,
      reply: { status: 200, description: 'A page of users, sorted by id.', json: { name: 'UserList', schema: pageOf(User) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listUsers(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneUser,
      operationId: 'retrieveUser',
      summary: 'Retrieve a user',
      access: 'users:read',
      parameters,
      reply: { status: 200, description: 'The user.', json: user },
      errors: [404, 503],
    },
    async ({ deps, actor, parameters: { id = '' } }) => toWire(await visibleUser(deps, actor, id)),
  ),
  route(
    {
      method: 'PATCH',
      path: oneUser,
      operationId: 'updateUser',
      summary: "Update a user's name, role, status or number of API keys",
      description: 'Disabling a user ends their sessions. The response names their API keys, which keep working unless you revoke them.',
      access: 'users:write',
      needsFreshLogin: true,
      parameters,
      isVersioned: true,
      body: { name: 'UserChange', schema: UserChange, example: { role: 'owner' } },
      reply: { status: 200, description: 'The updated user.', json: { name: 'ChangedUser', schema: ChangedUser } },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => changeUser(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneUser}/invitation`,
      operationId: 'resendInvitation',
      summary: 'Resend an invitation',
      description: 'Sends a new temporary password to a user who has not logged in yet.',
      access: 'users:write',
      needsFreshLogin: true,
      limits: ['invitations', 'invitations_to_address'],
      parameters,
      reply: { status: 202, description: 'The invitation is being sent.' },
      errors: [404, 409, 429, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => resendInvitation(deps, actor, id),
  ),
  route(
    {
      method: 'POST',
      path: `${oneUser}/totp-reset`,
      operationId: 'resetTotp',
      summary: 'Switch off the second factor of another user',
      description: 'For users who have lost it. Ends all their sessions; they can then log in with only their password.',
      access: 'users:write',
      needsFreshLogin: true,
      limits: ['aws_calls'],
      parameters,
      reply: { status: 204, description: 'The second factor is off.' },
      errors: [404, 409, 429, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => resetTotp(deps, actor, id),
  ),
  route(
    {
      method: 'DELETE',
      path: oneUser,
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description:
        "API keys that the user created stay with the organization and keep working; the response names them. The user's address is removed from the billing profile. With `revoke_keys=true` they are revoked first. If that returns a 503, repeat the request without If-Match.",
      access: 'users:write',
      needsFreshLogin: true,
      parameters,
      isVersioned: true,
      query: DeletionQuery,
      reply: { status: 200, description: 'The user was deleted.', json: { name: 'DeletedUser', schema: DeletedUser } },
      errors: [404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query: { revoke_keys }, expected }) =>
      deleteUser(deps, actor, id, { revokes: revoke_keys === 'true' }, expected),
  ),
];
