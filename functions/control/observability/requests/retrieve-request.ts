import * as z from 'zod';
import { eventShardsOf, shardId, shardOf } from '../../../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import { shardsOfKey } from '../../../../shared/admission/stores/shards-of-key.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS } from '../../../../shared/ids/id.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import type { ModelStore } from '../../../../shared/models/model-store.ts';
import type { RequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import { type Actor, organizationFor, seesOnlyOwn } from '../../access/actor.ts';
import { Text } from '../../access/route.ts';
import type { ApiKeyStore } from '../../api-keys/api-key-store.ts';
import type { CurrencyReads } from '../../billing/currency.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { drawTimeline } from './draw-timeline.ts';
import { costOf, pricesOf, type RatedRequest } from './request-cost.ts';
import { type RequestDetail, requestDetail } from './request-detail.ts';

export interface RetrieveDependencies {
  apiKeys: Pick<ApiKeyStore, 'get'>;
  limiters: Pick<LimiterConfigurationStore, 'get' | 'getMany'>;
  usage: Pick<UsageStore, 'get' | 'listByBucket'>;
  models: Pick<ModelStore, 'get' | 'retiredPrices'>;
  requestRows: Pick<RequestRowStore, 'get'>;
}

export const RequestDetailQuery = z.strictObject({
  organization: OrganizationId.optional().meta({ description: 'The organization of the request. Required for admins.' }),
  api_key_id: z.string().max(64).optional().meta({
    description: 'The API key that sent the request. With it, a request is found as soon as it has ended, and also after 30 days.',
  }),
  format: z.enum(['json', 'text']).default('json').meta({ description: '`text`: a timeline for a terminal.' }),
});
export type RequestDetailQuery = z.output<typeof RequestDetailQuery>;
type RequestPlace = Partial<Pick<RequestDetailQuery, 'organization' | 'api_key_id'>>;

const REQUEST_ID = new RegExp(`^${prefixes.request}[0-9A-Za-z]{${TIME_CHARACTERS + RANDOM_CHARACTERS}}$`);

export const isRequestId = (id: string): boolean => REQUEST_ID.test(id);

const notFound = (id: string): ResourceNotFound => new ResourceNotFound('request', id);

const keyOf = async ({ apiKeys, requestRows }: RetrieveDependencies, actor: Actor, id: string, query: RequestPlace): Promise<string> => {
  const organization = organizationFor(actor, query.organization);
  const keyId = query.api_key_id ?? (await requestRows.get(organization, id))?.key_id;
  if (keyId === undefined) throw notFound(id);
  try {
    const { created_by } = await apiKeys.get(organization, keyId);
    if (!seesOnlyOwn(actor) || created_by === actor.userId) return keyId;
  } catch (error) {
    if (!(error instanceof ResourceNotFound)) throw error;
  }
  throw notFound(id);
};

// A request has few ratings, so that a small read has them all.
const RATINGS_AT_ONCE = 10;
const MAX_RATINGS = 100;

const numberOf = ({ request_id }: UsageEvent): number => Number(request_id.split('#')[1]);

const ratedRequest = async (
  { usage, limiters }: Pick<RetrieveDependencies, 'usage' | 'limiters'>,
  keyId: string,
  id: string,
): Promise<RatedRequest | undefined> => {
  const shards = (await shardsOfKey(limiters, keyId)) ?? 1;
  const original = await usage.get(keyId, id, shards);
  if (!original) return undefined;
  const again: UsageEvent[] = [];
  const shard = shardId(keyId, shardOf(id, eventShardsOf(shards)));
  for await (const event of usage.listByBucket(shard, requestTimeMs(id), { after: id, atOnce: RATINGS_AT_ONCE })) {
    if (!event.request_id.startsWith(`${id}#`) || again.length === MAX_RATINGS) break;
    again.push(event);
  }
  return { original, again: again.sort((one, other) => numberOf(one) - numberOf(other)) };
};

/** Returns a key's request on the wire, and its events; undefined if it has no event. */
export const describeRequest = async (
  deps: Pick<RetrieveDependencies, 'usage' | 'limiters' | 'models'>,
  keyId: string,
  id: string,
): Promise<{ detail: RequestDetail; rated: RatedRequest } | undefined> => {
  const rated = await ratedRequest(deps, keyId, id);
  return rated && { detail: requestDetail(rated, costOf(rated, await pricesOf(deps.models, rated.original))), rated };
};

/** Returns a request that the actor can see, and its events. @throws 404, 400 if an admin names no organization */
export const findRequest = async (
  deps: RetrieveDependencies,
  actor: Actor,
  id: string,
  place: RequestPlace = {},
): Promise<{ detail: RequestDetail; rated: RatedRequest }> => {
  if (!isRequestId(id)) throw notFound(id);
  const request = await describeRequest(deps, await keyOf(deps, actor, id, place), id);
  if (!request) throw notFound(id);
  return request;
};

/** Returns a request's details, as JSON or drawn as text. @throws 404, 400 if an admin names no organization */
export const retrieveRequest = async (
  deps: RetrieveDependencies & CurrencyReads,
  actor: Actor,
  id: string,
  query: RequestDetailQuery,
): Promise<RequestDetail | Text> => {
  const { detail } = await findRequest(deps, actor, id, query);
  if (query.format !== 'text') return detail;
  return new Text('text/plain; charset=utf-8', drawTimeline(detail, (await deps.currency()).symbol));
};
