import { Forbidden } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, type OrganizationStatuses, SecondFactorRequired } from './actor.ts';

/** The longest time after a login in which users can change money and rights; that of the platform's users. */
export const MAX_FRESH_LOGIN_MINUTES = 720;

/** The parts of a login that an organization has requirements of. */
export interface Login {
  actor: Actor;
  /** Absent: the request is not of a person. */
  hasSecondFactor?: boolean;
  /** The last time that the user proved who they are, in Unix seconds. Absent: never. */
  provedAt?: number;
}

type Organization = Awaited<ReturnType<OrganizationStatuses['get']>>;

/** Returns a function that reads the actor's organization, once; undefined if they belong to none. */
export const organizationOf = (organizations: OrganizationStatuses, { organization }: Pick<Actor, 'organization'>) => {
  let reading: Promise<Organization> | undefined;
  return async (): Promise<Organization | undefined> => {
    if (organization === null) return undefined;
    reading ??= organizations.get(organization);
    return reading;
  };
};

/** 403 for a change of money or rights with a login that is too old. */
export class FreshLoginRequired extends Forbidden {
  constructor(minutes: number) {
    super({
      code: 'fresh_login_required',
      message: `This change requires a login, or a proof of who you are, within the last ${minutes} minutes. Send your password to POST ${AUTH_PATHS.proof}, or log in again.`,
    });
  }
}

/** Rejects a user without a second factor, if their organization requires one. @throws 403 */
export const requireSecondFactor = async (
  { hasSecondFactor }: Login,
  organization: () => Promise<Organization | undefined>,
): Promise<void> => {
  if (hasSecondFactor !== false) return;
  if ((await organization())?.require_second_factor) throw new SecondFactorRequired('Your organization requires');
};

/** Rejects a person whose last login or proof is too old to change money or rights. @throws 403 */
export const requireFreshLogin = async (
  { actor, provedAt = 0 }: Login,
  organization: () => Promise<Organization | undefined>,
): Promise<void> => {
  if (actor.kind === 'service_account') return;
  const { fresh_login_minutes: minutes = MAX_FRESH_LOGIN_MINUTES } = (await organization()) ?? {};
  if (actor.origin.nowMs - provedAt * SECOND_MS > minutes * MINUTE_MS) throw new FreshLoginRequired(minutes);
};
