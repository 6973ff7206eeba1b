import { hash } from 'node:crypto';
import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { evenShare } from '../../../shared/models/even-share.ts';
import type { Model, Target } from '../../../shared/models/model.ts';

/** A target's name, which no other target has. */
export const targetName = ({ endpoint, component = '', region = '' }: Target): string => `${region}/${endpoint}/${component}`;

const SESSION = /^[\x21-\x7e]{1,128}$/;

/** The session that a coding agent names; undefined if it names none. */
export const sessionOf = (event: ApiEvent): string | undefined => {
  const session = headerOf(event, 'x-claude-code-session-id');
  return session !== undefined && SESSION.test(session) ? session : undefined;
};

/**
 * An opaque id of an organization's user or session. Endpoints with prefix-aware routing keep the conversation on one
 * instance by it.
 */
export const affinityOf = (organization: string, userId: string): string => hash('sha256', `${organization}\n${userId}`, 'base64url');

/**
 * A model's targets in the order in which a request tries them: the same key always has the same order, and keys spread
 * over the targets by weight (weighted rendezvous hashing,
 * https://www.snia.org/sites/default/files/SDC15_presentations/dist_sys/Jason_Resch_New_Consistent_Hashings_Rev.pdf).
 */
export const orderTargets = ({ targets }: Pick<Model, 'targets'>, key: string): Model['targets'] => {
  if (targets.length === 1) return targets;
  const score = (target: Target): number => -target.weight / Math.log(evenShare(`${key}/${targetName(target)}`));
  return targets
    .map((target) => ({ target, score: score(target) }))
    .sort((a, b) => b.score - a.score)
    .map(({ target }) => target) as Model['targets'];
};
