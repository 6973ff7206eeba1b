import type { ReplyBody } from '../../client/routes.ts';
import { formatUtc } from '../../design/format/times.ts';

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

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

// The API's names of times end like this, and their values are Unix seconds.
const textOf = (name: string, value: unknown): string =>
  name.endsWith('_at') && typeof value === 'number' ? formatUtc(value) : String(value).slice(0, MAX_TEXT);

/** The plain values of a resource, to show at a glance; all of it is in its JSON. */
export const plainFacts = (resource: Evidence['resource']): (readonly [name: string, value: string])[] =>
  Object.entries(resource)
    .filter(([name, value]) => name !== 'id' && name !== 'object' && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => [titleOf(name), textOf(name, value)]);
