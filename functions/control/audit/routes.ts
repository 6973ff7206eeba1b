import * as z from 'zod';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import { organizationFor } from '../access/actor.ts';
import { createRoute } from '../access/route.ts';
import { AuditEntry } from './audit-entry.ts';
import type { AuditStore } from './audit-store.ts';

const route = createRoute<{ audit: AuditStore }>();

const AuditQuery = z.strictObject({
  ...pageQuery,
  organization: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Whose log. An owner’s own; of an admin, where it is absent, the platform’s.' }),
});

/** Members of other organizations do not see the e-mail and IP addresses of the platform's own people. */
const asSeenBy = (organization: string | null, entry: AuditEntry): AuditEntry =>
  entry.actor.organization === organization ? entry : { ...entry, actor: { ...entry.actor, email: null }, ip_address: null };

export const auditLogRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/audit-log',
      operationId: 'listAuditEntries',
      tag: 'Audit log',
      summary: 'List what was done',
      description: 'Every change, and every login of a known user. An entry is written with the change itself, and never changed.',
      access: 'owner',
      query: AuditQuery,
      reply: { status: 200, description: 'A page of it, the newest first.', json: { name: 'AuditList', schema: pageOf(AuditEntry) } },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, query: { organization, ...page } }) => {
      const isAdmin = actor.role === 'admin';
      const list = await deps.audit.list(isAdmin && organization === undefined ? null : organizationFor(actor, organization), page);
      return isAdmin ? list : { ...list, data: list.data.map((entry) => asSeenBy(actor.organization, entry)) };
    },
  ),
];
