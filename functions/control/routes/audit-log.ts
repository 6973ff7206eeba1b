import * as z from 'zod';
import { AuditEntry } from '../../../shared/audit/audit-entry.ts';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import { organizationFor } from '../../../shared/users/actor.ts';
import { route } from '../route.ts';

const AuditQuery = z.strictObject({
  ...pageQuery,
  organization: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Whose log. An owner’s own; of an admin, where it is absent, the platform’s.' }),
});

export const auditLogRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/audit-log',
      operationId: 'listAuditEntries',
      tag: 'Audit log',
      summary: 'List what was done',
      description: 'Every change, and every login of a known user. An entry is written with the change itself, and never changed.',
      role: 'owner',
      query: AuditQuery,
      reply: { status: 200, description: 'A page of it, the newest first.', json: { name: 'AuditList', schema: pageOf(AuditEntry) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query: { organization, ...page } }) =>
      deps.audit.list(actor.role === 'admin' && organization === undefined ? null : organizationFor(actor, organization), page),
  ),
];
