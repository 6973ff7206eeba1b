import * as z from 'zod';
import { AuditEntry } from '../../../shared/audit/audit-entry.ts';
import type { AuditStore } from '../../../shared/audit/audit-store.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { pageOf, pageQueryOf } from '../../../shared/http/page.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import { UnixSeconds } from '../lists/unix-seconds.ts';
import { OrganizationId } from '../organizations/organization.ts';

const MAX_CHARACTERS = 256;

const exactly = (description: string) => z.string().trim().min(1).max(MAX_CHARACTERS).optional().meta({ description });

export const AuditQuery = z.strictObject({
  ...pageQueryOf('event'),
  organization: OrganizationId.optional().meta({
    description: "The organization whose log to list. Defaults to your own; for admins, to the platform's log.",
  }),
  start_time: UnixSeconds.optional().meta({ description: 'Only entries of this time (Unix seconds) or later.' }),
  end_time: UnixSeconds.optional().meta({ description: 'Only entries before this time (Unix seconds).' }),
  action: exactly('Only entries with this action or, if it ends with a dot, with actions that begin like this: `api_key.`'),
  actor: exactly('Only changes by the user with this id or email address, or by the operator with this name.'),
  target: exactly('Only changes of the resource with this id.'),
  format: z.enum(['json', 'csv']).default('json').meta({
    description: 'With `csv`, `limit` has no effect: the text has up to 2,000 entries, with times in ISO 8601.',
  }),
});
export type AuditQuery = z.output<typeof AuditQuery>;

export const AuditList = pageOf(AuditEntry).extend({
  searched_until: z.int().meta({
    description: 'How far the search has come: later entries that match are on this page, or on one before it. Unix time in seconds.',
  }),
});

export interface AuditReads {
  audit: Pick<AuditStore, 'list'>;
}

// Organizations don't see the email and IP addresses of admins and operators, and can't search for them either.
const redactFor = ({ organization, ...actor }: Pick<Actor, 'role' | 'organization'>, entry: AuditEntry): AuditEntry =>
  isOfPlatform(actor) || entry.actor.organization === organization
    ? entry
    : { ...entry, actor: { ...entry.actor, email: null }, ip_address: null };

const matches = ({ action, actor, target }: AuditQuery, entry: AuditEntry): boolean =>
  (action === undefined || (action.endsWith('.') ? entry.action.startsWith(action) : entry.action === action)) &&
  (actor === undefined || entry.actor.id === actor || entry.actor.email?.toLowerCase() === actor.toLowerCase()) &&
  (target === undefined || entry.target.id === target);

const rangeOf = ({ start_time, end_time }: AuditQuery): { fromMs?: number; toMs?: number } => {
  if (start_time !== undefined && end_time !== undefined && end_time <= start_time)
    throw new InvalidValue('end_time', "expected a time after 'start_time'");
  return {
    ...(start_time !== undefined && { fromMs: start_time * SECOND_MS }),
    ...(end_time !== undefined && { toMs: end_time * SECOND_MS }),
  };
};

/**
 * Returns the entries of a log that match, newest first, as the actor may see them.
 * @param bounds of the page, and the most entries that are read for it
 * @throws 400, 404
 */
export const searchEntries = async (
  { audit }: AuditReads,
  actor: Actor,
  query: AuditQuery,
  bounds: { limit: number; maxRead?: number },
): Promise<Awaited<ReturnType<AuditStore['list']>>> => {
  const { organization, after, action, actor: wantedActor, target } = query;
  const isFiltered = action !== undefined || wantedActor !== undefined || target !== undefined;
  const log = isOfPlatform(actor) && organization === undefined ? null : organizationFor(actor, organization);
  const page = await audit.list(
    log,
    { limit: bounds.limit, after },
    {
      ...rangeOf(query),
      ...(bounds.maxRead !== undefined && { maxRead: bounds.maxRead }),
      matches: isFiltered ? (entry) => matches(query, redactFor(actor, entry)) : undefined,
    },
  );
  return { ...page, data: page.data.map((entry) => redactFor(actor, entry)) };
};
