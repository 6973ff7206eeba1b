import type { ReplyBody } from '../../client/routes.ts';
import type { IdentityProvider } from '../identity-providers/provider-draft.ts';

type User = ReplyBody<'GET /v1/users'>['data'][number];

/**
 * The active users who can't sign in while passwords are refused: those whose address leads to no provider.
 * @param providers all of the organization @param breakGlass the id of the owner who keeps a password
 */
export const lockedOut = (users: readonly User[], providers: readonly IdentityProvider[], breakGlass: string): User[] => {
  const domains = new Set(
    providers
      .filter(({ status }) => status === 'active')
      .flatMap((provider) => provider.domains.filter(({ status }) => status === 'verified').map(({ domain }) => domain)),
  );
  return users.filter(({ id, email, status }) => status === 'active' && id !== breakGlass && !domains.has(email.split('@')[1] ?? ''));
};
