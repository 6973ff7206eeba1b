import type { ReplyBody } from '../../client/routes.ts';

export type Evidence = ReplyBody<'GET /v1/tickets/{id}/evidence'>['data'][number];
export type RequestDetail = ReplyBody<'GET /v1/observability/requests/{id}'>;

/**
 * The stored state of a request; undefined for evidence of another kind, and for a request of a release that stored
 * less.
 */
export const requestIn = ({ type, resource }: Evidence): RequestDetail | undefined => {
  const { phases, cost, usage } = resource as Partial<RequestDetail>;
  const isWhole = Array.isArray(phases) && Array.isArray(cost?.ratings) && usage !== undefined;
  return type === 'request' && isWhole ? (resource as unknown as RequestDetail) : undefined;
};

const MAX_TEXT = 200;

/** The plain values of a resource, to show at a glance; all of it is in its JSON. */
export const plainFacts = (resource: Evidence['resource']): (readonly [name: string, value: string])[] =>
  Object.entries(resource)
    .filter(([name, value]) => name !== 'id' && name !== 'object' && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => [name.replaceAll('_', ' '), String(value).slice(0, MAX_TEXT)]);
