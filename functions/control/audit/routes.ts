import * as z from 'zod';
import { AuditEntry } from '../../../shared/audit/audit-entry.ts';
import type { AuditStore } from '../../../shared/audit/audit-store.ts';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import { isOfPlatform, organizationFor } from '../access/actor.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';

const route = createRoute<{ audit: AuditStore }>('Audit log');
const AuditQuery = z.strictObject({
  ...pageQuery,
  organization: OrganizationId.optional().meta({
    description: 'The organization whose log to list. Defaults to your own; for admins, to the platform’s log.',
  }),
});

// Organizations don't see the e-mail and IP addresses of admins and operators.
const redactFor = (organization: string | null, entry: AuditEntry): AuditEntry =>
  entry.actor.organization === organization ? entry : { ...entry, actor: { ...entry.actor, email: null }, ip_address: null };

export const auditLogRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/audit-log',
      operationId: 'listAuditEntries',
      summary: 'List audit log entries',
      description:
        'Returns every change and the logins of existing users; of refused logins, the first of a user in each hour. Entries are never modified.',
      access: 'audit:read',
      limits: ['searches'],
      query: AuditQuery,
      reply: { status: 200, description: 'A page of entries, newest first.', json: { name: 'AuditList', schema: pageOf(AuditEntry) } },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, query: { organization, ...page } }) => {
      const isAdmin = isOfPlatform(actor);
      const list = await deps.audit.list(isAdmin && organization === undefined ? null : organizationFor(actor, organization), page);
      return isAdmin ? list : { ...list, data: list.data.map((entry) => redactFor(actor.organization, entry)) };
    },
  ),
];
