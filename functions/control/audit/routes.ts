import { SECOND_MS } from '../../../shared/time/units.ts';
import { createRoute } from '../access/route.ts';
import { exportEntries } from './export-entries.ts';
import { AuditList, AuditQuery, type AuditReads, searchEntries } from './search-entries.ts';

const route = createRoute<AuditReads>('Audit log');

export const auditLogRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/audit-log',
      operationId: 'listAuditEntries',
      summary: 'List audit log entries',
      description:
        'Returns every change and the logins of existing users; of refused logins, the first of a user in each hour. Entries are never modified. With filters, a page can have fewer entries than `limit`, or none: continue while `has_more` is true. With `format=csv`, the `link` header has the URL of the next part.',
      access: 'audit:read',
      limits: ['searches'],
      query: AuditQuery,
      reply: {
        status: 200,
        description: 'A page of entries, newest first.',
        json: { name: 'AuditList', schema: AuditList },
        text: ['text/csv'],
        headers: ['link'],
      },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, query, event }) => {
      if (query.format === 'csv') return exportEntries(deps, actor, query, event);
      const { searchedToMs, ...list } = await searchEntries(deps, actor, query, { limit: query.limit });
      return { ...list, searched_until: Math.ceil(searchedToMs / SECOND_MS) };
    },
  ),
];
