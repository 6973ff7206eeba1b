import { can, type Me } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import type { Choice } from '../../design/controls/choice.ts';

const MAX_READ = 100;
const ANSWERING: readonly string[] = ['support', 'admin'];

/** Others to whom a ticket can be assigned: only those who can list users know them. */
export const useSupporters = (me: Me): readonly Choice[] => {
  const { data } = useRead(
    'GET /v1/users',
    { query: { organization: 'platform', status: 'active', limit: MAX_READ } },
    { enabled: can(me, 'tickets:answer') && can(me, 'users:list') },
  );
  return (data?.data ?? [])
    .filter(({ id, role }) => id !== me.id && ANSWERING.includes(role))
    .map(({ id, name, email }) => [id, name ?? email] as const);
};
