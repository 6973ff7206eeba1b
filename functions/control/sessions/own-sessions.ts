import * as z from 'zod';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { isSessionOf, type StoredSession, useOf } from '../../../shared/identity/session-store.ts';
import { endAllSessions, recordAction, type SessionDependencies } from '../../../shared/identity/sessions.ts';
import { SECOND_MS, unixSeconds } from '../../../shared/time/units.ts';
import type { SignedInUser } from './authenticate.ts';
import { foreignSession } from './refresh-session.ts';

/** A login of a user, as they see it. */
export const OwnSession = z.object({
  id: z.string(),
  object: z.literal('login_session'),
  is_current: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
  client: z.enum(['api', 'browser']),
  proof: z.string().meta({
    description:
      'How the user logged in: `password`, `sso:` and the id of an identity provider, or `unknown` for a login before an upgrade.',
  }),
  second_factor: z.boolean().meta({ description: 'Whether the login used a second factor.' }),
  created_at: z.int().meta({ description: 'The time of the login: Unix time in seconds.' }),
  last_used_at: z.int().meta({ description: 'The time of the login or of the last refresh.' }),
  ip_address: z.string().meta({ description: 'The IP address of the login or of the last refresh.' }),
  user_agent: z.string(),
  ends_at: z.int(),
});

const toWire = (
  { id, client, proof, second_factor, created_at, last_use, ends_at }: StoredSession,
  isCurrent: boolean,
): z.infer<typeof OwnSession> => ({
  id,
  object: 'login_session',
  is_current: isCurrent,
  client,
  proof,
  second_factor,
  created_at,
  last_used_at: last_use.at,
  ip_address: last_use.ip_address,
  user_agent: last_use.user_agent,
  ends_at,
});

/**
 * Lists the actor's own sessions, the last used first. A login through another release is listed after its first
 * refresh.
 */
export const listOwnSessions = async ({ sessions }: SessionDependencies, { actor, user, sessionId, session: current }: SignedInUser) => {
  const now = actor.origin.nowMs / SECOND_MS;
  const isCurrent = (session: StoredSession): boolean => (current ? isSessionOf(session, current) : session.id === sessionId);
  const all = await sessions.list(user.id, now);
  return {
    object: 'list' as const,
    data: all.filter(({ created_at }) => created_at >= user.tokens_valid_from).map((session) => toWire(session, isCurrent(session))),
  };
};

/** Ends one of the actor's own sessions. @throws 404 */
export const endOwnSession = async (deps: SessionDependencies, { actor, user }: SignedInUser, id: string): Promise<void> => {
  const now = unixSeconds(actor.origin.nowMs);
  const session = ID.test(id) ? await deps.sessions.get(user.id, id, now) : undefined;
  if (!session || session.created_at < user.tokens_valid_from) throw new ResourceNotFound('session', id);
  await deps.sessions.end(user.id, id, now);
  await recordAction(deps, actor.origin, user, 'session.ended');
};
const ID = /^ses_[0-9A-Za-z]{18}$/;

/** Ends all of the actor's own sessions, or all but the one of the request. */
export const endOwnSessions = async (
  deps: SessionDependencies,
  { actor, user, sessionId, session, authenticatedAt }: SignedInUser,
  { keepsCurrent }: { keepsCurrent: boolean },
): Promise<void> => {
  if (keepsCurrent && sessionId !== undefined) {
    const now = unixSeconds(actor.origin.nowMs);
    await deps.sessions.endOthers(
      user.id,
      session ?? foreignSession(sessionId, authenticatedAt, useOf({ ipAddress: actor.origin.ipAddress ?? '' }, now)),
      now,
    );
  } else await endAllSessions(deps, user);
  await recordAction(deps, actor.origin, user, 'session.all_ended');
};
