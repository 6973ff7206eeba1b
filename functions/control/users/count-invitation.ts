import type { Actor } from '../access/actor.ts';
import type { AttemptStore } from '../sessions/attempt-store.ts';
import type { UserDependencies } from './make-user.ts';

export interface InvitationDependencies extends UserDependencies {
  attempts: AttemptStore;
}

/** Invitations are e-mails to whomever an owner names: so many in five minutes. @throws 429 */
export const countInvitation = ({ attempts }: InvitationDependencies, { userId, origin }: Actor): Promise<void> =>
  attempts.count({ kind: 'invite', ipAddress: origin.ipAddress ?? '', account: userId }, origin.nowMs);
