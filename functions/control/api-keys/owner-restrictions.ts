import { Forbidden } from '../../../shared/http/errors.ts';
import { can, type Rights } from '../access/actor.ts';
import type { ApiKey, OwnerRestrictions } from './api-key.ts';

type Restrictions = Pick<ApiKey, keyof OwnerRestrictions>;

const beyond = (param: keyof Restrictions, expected: string): Forbidden =>
  new Forbidden({
    code: 'set_by_owner',
    param,
    message: `An owner restricted this API key with '${param}'. ${expected}, or ask an owner of your organization.`,
  });

/**
 * Rejects a change by a member that loosens a restriction of the owner. Members can restrict a key further.
 * @throws 403
 */
export const checkRestrictions = (
  actor: Rights,
  bounds: OwnerRestrictions,
  { models, expires_at, no_content }: { [Name in keyof Restrictions]?: Restrictions[Name] | undefined },
): void => {
  if (can(actor, 'keys:limit')) return;
  const isWider = models !== undefined && bounds.models && (models === null || models.some((model) => !bounds.models?.includes(model)));
  if (isWider) throw beyond('models', `Choose among ${bounds.models?.map((model) => `'${model}'`).join(', ')}`);
  const isLater = expires_at !== undefined && bounds.expires_at !== null && (expires_at === null || expires_at > bounds.expires_at);
  if (isLater) throw beyond('expires_at', `Choose a time up to ${bounds.expires_at}`);
  if (no_content === false && bounds.no_content) throw beyond('no_content', 'Leave it true');
};

/**
 * The restrictions of a key after a change: a restriction that an owner sets becomes the bound for members, and one
 * that an owner removes no longer binds them.
 */
export const boundsAfter = (
  actor: Rights,
  bounds: OwnerRestrictions,
  fields: { [Name in keyof Restrictions]?: Restrictions[Name] | undefined },
): OwnerRestrictions => {
  if (!can(actor, 'keys:limit')) return bounds;
  const { models = bounds.models, expires_at = bounds.expires_at, no_content = bounds.no_content } = fields;
  return { models, expires_at, no_content };
};
