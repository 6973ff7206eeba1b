import path from 'node:path';
import * as z from 'zod';
import { exportKey } from '../../../../shared/billing/export.ts';
import { fingerprintOf, idempotencyKeyOf } from '../../../../shared/http/idempotency-key.ts';
import { pageOf, pageQueryOf } from '../../../../shared/http/page.ts';
import { isOfPlatform, organizationFor } from '../../access/actor.ts';
import { createRoute } from '../../access/route.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { createExport, type ExportRouteDependencies } from './create-export.ts';
import { Export, exportToWire, NewExport } from './export-resource.ts';

const route = createRoute<ExportRouteDependencies>('Billing');
const exportsPath = '/v1/billing/exports';

const organization = OrganizationId.optional().meta({
  description: 'The organization of the exports. Required for admins; otherwise your own organization.',
});

export const exportRoutes = [
  route(
    {
      method: 'POST',
      path: exportsPath,
      operationId: 'createExport',
      summary: 'Export events to a file',
      description:
        'Creates a job that writes the events of up to 400 days to a file. An organization can have five jobs at a time. Retrieve the export until it is completed, or subscribe a webhook to `sluice.export.completed.v1`. With an `Idempotency-Key`, a repeated request returns the same export.',
      access: 'billing:write',
      limits: ['exports'],
      isIdempotent: true,
      isOpenToSuspended: true,
      body: {
        name: 'NewExport',
        schema: NewExport,
        example: { format: 'focus', start_time: 1_790_812_800, end_time: 1_793_491_200 },
      },
      reply: { status: 202, description: 'The export, which has begun.', json: { name: 'Export', schema: Export } },
      errors: [400, 404, 409, 422, 503],
    },
    ({ deps, actor, body, event }) => {
      const key = idempotencyKeyOf(event);
      const once = key === undefined ? undefined : { key, fingerprint: fingerprintOf(event) };
      return createExport(deps, actor.origin, organizationFor(actor, body.organization), body, once);
    },
  ),
  route(
    {
      method: 'GET',
      path: exportsPath,
      operationId: 'listExports',
      summary: 'List exports',
      access: 'billing:read',
      query: z.strictObject({ ...pageQueryOf('export'), organization }),
      reply: {
        status: 200,
        description: 'A page of exports, newest first. They have no download URL; retrieve one to get it.',
        json: { name: 'ExportList', schema: pageOf(Export) },
      },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, query: { organization: of, ...page } }) => {
      const { exports, hasMore } = await deps.exports.list(organizationFor(actor, of), page);
      const data = exports.map((stored) => exportToWire(stored, null));
      return { object: 'list', data, has_more: hasMore, next: hasMore ? (data.at(-1)?.id ?? null) : null };
    },
  ),
  route(
    {
      method: 'GET',
      path: `${exportsPath}/{id}`,
      operationId: 'retrieveExport',
      summary: 'Retrieve an export, and download its file',
      access: 'billing:read',
      parameters: { id: { description: 'The id of an export.', example: 'exp_0Vd8bUPc4RtYvB8fK2' } },
      query: z.strictObject({
        organization: OrganizationId.optional().meta({
          description: 'The organization of the export. Default: any for admins; otherwise your own organization.',
        }),
      }),
      reply: { status: 200, description: 'The export.', json: { name: 'Export', schema: Export } },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, parameters: { id = '' }, query }) => {
      const isAnyones = isOfPlatform(actor) && query.organization === undefined;
      const stored = isAnyones ? await deps.exports.find(id) : await deps.exports.get(organizationFor(actor, query.organization), id);
      const key = exportKey(stored);
      return exportToWire(stored, stored.state === 'completed' ? await deps.signDownload(key, path.basename(key)) : null);
    },
  ),
];
