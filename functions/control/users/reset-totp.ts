import { Forbidden } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { endAllSessions, type SessionEndDependencies } from '../../../shared/identity/sessions.ts';
import { type Actor, requirePermission, requireRightsOver } from '../access/actor.ts';
import type { UserDependencies } from './create-user.ts';
import { switchOffSecondFactor } from './switch-off-second-factor.ts';
import { visibleUser } from './update-user.ts';

/** Switches off the second factor of a user who has lost it, and ends their sessions. @throws 403, 404, 409 */
export const resetTotp = async (deps: UserDependencies & SessionEndDependencies, actor: Actor, id: string): Promise<void> => {
  requirePermission(actor, 'users:write');
  if (id === actor.userId)
    throw new Forbidden({
      code: 'own_rights',
      message: `You can't reset your own second factor here. Send your password and a code to POST ${AUTH_PATHS.disableTotp} instead.`,
    });
  const user = await visibleUser(deps, actor, id);
  requireRightsOver(actor, user.role);
  await switchOffSecondFactor(deps, actor, user, 'user.totp_reset');
  await endAllSessions(deps, user);
};
