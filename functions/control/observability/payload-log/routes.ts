import * as z from 'zod';
import { createRoute } from '../../access/route.ts';
import { deletePayloadLog, type PayloadLogDependencies, retrievePayloadLog, setPayloadLog } from './manage-payload-log.ts';
import { NewPayloadLog, PayloadLogResource, PayloadResource } from './payload-log-resource.ts';
import { type PayloadDependencies, retrievePayload } from './read-payload.ts';

const route = createRoute<PayloadLogDependencies & PayloadDependencies>('Observability');
const payloadLog = '/v1/observability/payload-log';
const settings = { name: 'PayloadLog', schema: PayloadLogResource };

const OwnerQuery = z.strictObject({
  api_key: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'The id of an API key, for its own settings; absent: those of the organization.' }),
});

/** The payload log: the content of requests, which only owners of their organization can log and read. */
export const payloadLogRoutes = [
  route(
    {
      method: 'GET',
      path: payloadLog,
      operationId: 'retrievePayloadLog',
      summary: 'Retrieve the settings of the payload log',
      description: 'Only owners of the organization can do this, not admins.',
      access: 'payloads:read',
      query: OwnerQuery,
      reply: { status: 200, description: 'The settings that apply.', json: settings },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => retrievePayloadLog(deps, actor, query.api_key),
  ),
  route(
    {
      method: 'PUT',
      path: payloadLog,
      operationId: 'setPayloadLog',
      summary: 'Switch the payload log on or off',
      description:
        'Replaces all settings, from the next request of each API key on. Requests in progress are not logged if the log is switched off before they end; only a payload that is being written at that moment is finished, within seconds. An API key with settings of its own does not follow its organization. The content of an API key with `no_content`, and of a request with the header `x-sluice-log: off`, is never logged. Only owners of the organization can do this, not admins.',
      access: 'payloads:write',
      query: OwnerQuery,
      isVersioned: true,
      body: { name: 'NewPayloadLog', schema: NewPayloadLog, example: { enabled: true, retention_days: 7, paths: ['$.metadata'] } },
      reply: { status: 200, description: 'The settings.', json: settings },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, query, body, expected }) => setPayloadLog(deps, actor, query.api_key, body, expected),
  ),
  route(
    {
      method: 'DELETE',
      path: payloadLog,
      operationId: 'deletePayloadLog',
      summary: 'Delete the settings of the payload log',
      description:
        'Switches the log of the organization off; an API key follows its organization again. Content that was logged stays until its retention ends. Only owners of the organization can do this, not admins.',
      access: 'payloads:write',
      query: OwnerQuery,
      isVersioned: true,
      reply: { status: 200, description: 'The settings that apply now.', json: settings },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, query, expected }) => deletePayloadLog(deps, actor, query.api_key, expected),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/observability/requests/{id}/payload',
      operationId: 'retrieveRequestPayload',
      summary: 'Retrieve the logged content of a request',
      description:
        'Each read is an entry of the audit log, `payload.read`. The content of a stream is the whole response that it makes. Only owners of the organization can do this, not admins.',
      access: 'payloads:read',
      limits: ['changes'],
      parameters: { id: { description: 'The id of a request.', example: 'req_VbdBUPcqGZ0mPXnRSBSJd7q7A' } },
      reply: { status: 200, description: 'The content, after redaction.', json: { name: 'RequestPayload', schema: PayloadResource } },
      errors: [404, 503],
    },
    ({ deps, actor, parameters }) => retrievePayload(deps, actor, parameters.id ?? ''),
  ),
];
