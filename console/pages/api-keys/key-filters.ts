import type { Query } from '../../client/routes.ts';
import { DAY_S, HOUR_S } from '../../design/format/units.ts';

type KeysQuery = NonNullable<Query<'GET /v1/api-keys'>>;

/** The parameters of the address that filter the list. */
export const KEY_FILTERS = ['q', 'status', 'attention', 'model', 'created_by', 'project_id'] as const;

/** The filters of the list as the address has them. Empty: not set; without `status`, active keys are shown. */
export type KeyFilters = Readonly<Record<(typeof KEY_FILTERS)[number], string>>;

const SOON_S = 7 * DAY_S;
const LONG_S = 30 * DAY_S;

/** The query of the list. @param nowS Unix seconds; within an hour the query stays the same */
export const keysQueryOf = (
  { q, status, attention, model, created_by, project_id }: KeyFilters,
  organization: string | undefined,
  nowS: number,
): KeysQuery => {
  const hourS = Math.floor(nowS / HOUR_S) * HOUR_S;
  return {
    ...(organization && { organization }),
    ...(status !== 'all' && { status: status === 'revoked' ? 'revoked' : 'active' }),
    ...(q && { q }),
    ...(model && { model }),
    ...(created_by && { created_by }),
    ...(project_id && { project_id }),
    ...(attention === 'expiring' && { expires_before: String(hourS + SOON_S) }),
    ...(attention === 'unused' && { unused_since: String(hourS - LONG_S) }),
  };
};
