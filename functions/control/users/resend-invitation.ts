import { Conflict } from '../../../shared/http/errors.ts';
import type { Actor } from '../access/actor.ts';
import { commit } from '../audit/commit.ts';
import { countInvitation, type InvitationDependencies } from './count-invitation.ts';
import { visibleUser } from './update-user.ts';

/** Has an invitation e-mailed again, with a new temporary password. @throws 404, 409 for a user who has logged in */
export const resendInvitation = async (deps: InvitationDependencies, actor: Actor, id: string): Promise<void> => {
  await countInvitation(deps, actor);
  const user = await visibleUser(deps, actor, id);
  if (user.last_login_at !== null)
    throw new Conflict({
      code: 'already_logged_in',
      message: 'The user has logged in already, and can set a new password with POST /v1/auth/forgot.',
    });
  if (!(await deps.userPool.resendInvitation(user.email)))
    throw new Conflict({
      code: 'no_invitation',
      message: 'There is no invitation to be sent again: delete the user, and invite them anew.',
    });
  await commit(deps, actor.origin, { action: 'user.invited_again', organization: user.organization, target: { type: 'user', id } }, []);
};
