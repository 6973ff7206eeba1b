import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { readJsonBody } from '../../../shared/http/json/json-body.ts';
import { commonHeaders, type Reply } from '../../../shared/http/reply.ts';
import { SCIM_BASE, SCIM_CONTENT_TYPE } from '../../../shared/http/scim-path.ts';
import { refuseRepeated } from '../../../shared/http/validate-query.ts';
import type { CallLimitName } from '../access/call-limits.ts';
import { authenticateScim, type ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import { type ScimUser, visibleScimUser } from './find-user.ts';
import { listScimGroups, membersByGroup } from './list-groups.ts';
import { listScimUsers, type ScimPage } from './list-users.ts';
import { changeScimGroup, createScimGroup, deleteScimGroup, visibleScimGroup } from './manage-groups.ts';
import { changeScimUser, createScimUser, deleteScimUser } from './manage-users.ts';
import { MAX_SCIM_PAGE, SCIM_RESOURCE_TYPES, SCIM_SCHEMA_DOCUMENTS, SCIM_SERVICE_PROVIDER_CONFIG } from './protocol/discovery.ts';
import { InvalidScimValue } from './protocol/errors.ts';
import { readGroup, readGroupPatch } from './protocol/group-fields.ts';
import { attributeName, SCIM_SCHEMAS } from './protocol/names.ts';
import { readUser, readUserPatch } from './protocol/user-fields.ts';
import type { ScimGroupRow } from './scim-store.ts';
import { toScimGroup, toScimUser } from './user-resource.ts';

interface ScimCall {
  deps: ScimDependencies;
  connection: ScimConnection;
  event: ApiEvent;
  /** The id in the path. */
  id: string;
}

/** A route of SCIM, which authenticates with a SCIM token. */
export interface ScimRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  limits: readonly CallLimitName[];
  handle: (deps: ScimDependencies, event: ApiEvent) => Promise<Reply>;
}

const MAX_ID = 256;

const reply = ({ requestId }: ApiEvent, statusCode: number, body?: object, headers: Record<string, string> = {}): Reply => ({
  statusCode,
  headers: { ...commonHeaders(requestId, SCIM_CONTENT_TYPE), ...headers },
  body: body === undefined ? '' : JSON.stringify(body),
});

const limitsOfMethod = (method: ScimRoute['method']): readonly CallLimitName[] => [method === 'GET' ? 'scim_reads' : 'scim_changes'];

const route = (method: ScimRoute['method'], path: string, run: (call: ScimCall) => Promise<Reply>): ScimRoute => ({
  method,
  path: SCIM_BASE + path,
  limits: limitsOfMethod(method),
  handle: async (deps, event) => {
    const connection = await authenticateScim(deps, event);
    await deps.calls.countCall(limitsOfMethod(method), { actor: connection.actor }, connection.actor.origin.nowMs);
    const id = event.pathParameters?.id ?? '';
    if (id.length > MAX_ID) throw new ResourceNotFound('resource', id);
    return run({ deps, connection, event, id });
  },
});

const numberOf = (event: ApiEvent, name: 'startIndex' | 'count', byDefault: number): number => {
  const text = event.queryStringParameters?.[name];
  if (text === undefined) return byDefault;
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidScimValue(name, 'an integer');
  return Number(text);
};

// Values that are too small are read as the smallest (RFC 7644, section 3.4.2.4). Other parameters are ignored, as
// providers send some of their own.
const listingOf = (event: ApiEvent): { filter: string | undefined; page: ScimPage } => {
  refuseRepeated(event.multiValueQueryStringParameters ?? {}, ['filter', 'startIndex', 'count']);
  return {
    filter: event.queryStringParameters?.filter,
    page: {
      startIndex: Math.max(1, numberOf(event, 'startIndex', 1)),
      count: Math.min(MAX_SCIM_PAGE, Math.max(0, numberOf(event, 'count', MAX_SCIM_PAGE))),
    },
  };
};

const listOf = (Resources: readonly object[], totalResults = Resources.length, startIndex = 1) => ({
  schemas: [SCIM_SCHEMAS.list],
  totalResults,
  startIndex,
  itemsPerPage: Resources.length,
  Resources,
});

// Entra asks for groups without their members, which can be many.
const hasMembers = ({ multiValueQueryStringParameters }: ApiEvent): boolean => {
  const namesIn = (name: string): string[] | undefined =>
    multiValueQueryStringParameters?.[name]?.flatMap((names) => names.split(',')).map((attribute) => attributeName(attribute.trim()));
  return namesIn('attributes')?.includes('members') ?? !namesIn('excludedAttributes')?.includes('members');
};

const userReply = async ({ deps, connection, event }: ScimCall, found: ScimUser, status = 200): Promise<Reply> => {
  const groups = found.row.groups.length > 0 ? await deps.scim.listGroups(connection.provider.id) : [];
  const resource = toScimUser(found, groups, connection);
  return reply(event, status, resource, { location: resource.meta.location });
};

const groupReply = async ({ deps, connection, event }: ScimCall, group: ScimGroupRow, status = 200): Promise<Reply> => {
  const members = hasMembers(event) ? (membersByGroup(await deps.scim.listUsers(connection.provider.id)).get(group.id) ?? []) : undefined;
  const resource = toScimGroup(group, members, connection);
  return reply(event, status, resource, { location: resource.meta.location });
};

const documents = (path: string, all: readonly { id: string }[]): ScimRoute[] => [
  route('GET', path, async ({ event }) => reply(event, 200, listOf(all))),
  route('GET', `${path}/{id}`, async ({ event, id }) => {
    const document = all.find((each) => each.id === id);
    if (!document) throw new ResourceNotFound('document', id);
    return reply(event, 200, document);
  }),
];

const user = '/Users/{id}';
const group = '/Groups/{id}';

/** Every route of SCIM: those of RFC 7644, without bulk, search by POST, and `/Me`. */
export const scimRoutes: readonly ScimRoute[] = [
  route('GET', '/ServiceProviderConfig', async ({ event }) => reply(event, 200, SCIM_SERVICE_PROVIDER_CONFIG)),
  ...documents('/ResourceTypes', SCIM_RESOURCE_TYPES),
  ...documents('/Schemas', SCIM_SCHEMA_DOCUMENTS),
  route('GET', '/Users', async ({ deps, connection, event }) => {
    const { filter, page } = listingOf(event);
    const { users, total } = await listScimUsers(deps, connection, filter, page);
    const groups = users.some(({ row }) => row.groups.length > 0) ? await deps.scim.listGroups(connection.provider.id) : [];
    const resources = users.map((found) => toScimUser(found, groups, connection));
    return reply(event, 200, listOf(resources, total, page.startIndex));
  }),
  route('POST', '/Users', async (call) => {
    const fields = readUser(readJsonBody(call.event));
    return userReply(call, await createScimUser(call.deps, call.connection, fields), 201);
  }),
  route('GET', user, async (call) => userReply(call, await visibleScimUser(call.deps, call.connection, call.id))),
  route('PUT', user, async (call) => {
    const fields = readUser(readJsonBody(call.event));
    return userReply(call, await changeScimUser(call.deps, call.connection, call.id, fields));
  }),
  route('PATCH', user, async (call) => {
    const fields = readUserPatch(readJsonBody(call.event));
    return userReply(call, await changeScimUser(call.deps, call.connection, call.id, fields));
  }),
  route('DELETE', user, async ({ deps, connection, event, id }) => {
    await deleteScimUser(deps, connection, id);
    return reply(event, 204);
  }),
  route('GET', '/Groups', async ({ deps, connection, event }) => {
    const { filter, page } = listingOf(event);
    const { groups, total } = await listScimGroups(deps, connection, filter, { ...page, hasMembers: hasMembers(event) });
    const resources = groups.map((each) => toScimGroup(each.group, each.members, connection));
    return reply(event, 200, listOf(resources, total, page.startIndex));
  }),
  route('POST', '/Groups', async (call) => {
    const fields = readGroup(readJsonBody(call.event));
    return groupReply(call, await createScimGroup(call.deps, call.connection, fields), 201);
  }),
  route('GET', group, async (call) => groupReply(call, await visibleScimGroup(call.deps, call.connection, call.id))),
  route('PUT', group, async (call) => {
    const fields = readGroup(readJsonBody(call.event));
    return groupReply(call, await changeScimGroup(call.deps, call.connection, call.id, fields));
  }),
  route('PATCH', group, async ({ deps, connection, event, id }) => {
    await changeScimGroup(deps, connection, id, readGroupPatch(readJsonBody(event)));
    return reply(event, 204);
  }),
  route('DELETE', group, async ({ deps, connection, event, id }) => {
    await deleteScimGroup(deps, connection, id);
    return reply(event, 204);
  }),
];
