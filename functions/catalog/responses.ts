import { authenticateForRead, presentedKey } from '../../shared/admission/keys/authenticate.ts';
import { limitHeaders } from '../../shared/admission/keys/rate-limits.ts';
import type { ReadableKeys } from '../../shared/admission/stores/limiter-reader.ts';
import type { Host } from '../../shared/hosts/host.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { ApiError, InvalidRequest } from '../../shared/http/errors.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';
import { userIdOf } from '../../shared/http/user-id.ts';
import { validate } from '../../shared/http/validate.ts';
import { refuseRepeated } from '../../shared/http/validate-query.ts';
import { InputItemsQuery, listInputItems as listItems } from '../../shared/responses/input-items.ts';
import type { ResponseStore, StoredResponse } from '../../shared/responses/response-store.ts';

/** The caller's organization has no response with this id, or it has expired. */
export class ResponseNotFound extends ApiError {
  constructor(id: string) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'response_not_found',
      message: `The response '${id.slice(0, 100)}' does not exist. Check the id. Responses are stored for 30 days, unless store was false (set by the request or its API key) or the response was too large.`,
    });
  }
}

export interface ResponsesDependencies {
  host: Host;
  keys: ReadableKeys;
  store: ResponseStore;
}

// The same for every response; those of older releases lack them.
const CONSTANT_FIELDS = { access_programs: null, moderation: null, presence_penalty: 0, frequency_penalty: 0, service_tier: 'default' };
const CONSTANT_COUNTS = { cache_write_tokens: 0 };

const withConstants = (response: StoredResponse['response']): Record<string, unknown> => {
  const usage = response.usage as { input_tokens_details?: object } | null | undefined;
  return {
    ...response,
    ...CONSTANT_FIELDS,
    ...(usage && { usage: { ...usage, input_tokens_details: { ...CONSTANT_COUNTS, ...usage.input_tokens_details } } }),
  };
};

interface Caller {
  organization: string;
  headers: Record<string, string>;
}

// Errors have the headers, too.
const forCaller =
  (handle: (deps: ResponsesDependencies, event: ApiEvent, caller: Caller) => Promise<Reply>) =>
  (deps: ResponsesDependencies): Handle =>
  async (event) => {
    const { host, keys } = deps;
    const item = await authenticateForRead(keys, presentedKey(event, host));
    event.sender = { key_id: item.id, org_id: item.org };
    const headers = limitHeaders([item], keys.now());
    try {
      if (host.scope === 'on_demand') userIdOf(event);
      return await handle(deps, event, { organization: item.org, headers });
    } catch (error) {
      throw error instanceof ApiError ? error.withHeaders(headers) : error;
    }
  };

const idOf = ({ pathParameters }: ApiEvent): string => pathParameters?.id ?? '';

const storedResponse = async ({ store }: ResponsesDependencies, organization: string, id: string): Promise<StoredResponse> => {
  const stored = await store.get(organization, id);
  if (!stored) throw new ResponseNotFound(id);
  return stored;
};

export const retrieveResponse = forCaller(async (deps, event, { organization, headers }) => {
  if (event.queryStringParameters?.stream === 'true')
    throw new InvalidRequest({
      param: 'stream',
      message: 'A stored response cannot be streamed. Leave out stream to retrieve it as one object.',
    });
  const id = idOf(event);
  const stored = await storedResponse(deps, organization, id);
  return jsonReply(event.requestId, 200, withConstants(stored.response), headers);
});

/** After this, the response can't be retrieved or continued. */
export const deleteResponse = forCaller(async (deps, event, { organization, headers }) => {
  const id = idOf(event);
  if (!(await deps.store.delete(organization, id))) throw new ResponseNotFound(id);
  return jsonReply(event.requestId, 200, { id, object: 'response', deleted: true }, headers);
});

export const listInputItems = forCaller(async (deps, event, { organization, headers }) => {
  // Unknown parameters have no effect, and clients repeat some, such as `include[]`.
  refuseRepeated(event.multiValueQueryStringParameters ?? {}, Object.keys(InputItemsQuery.shape));
  const query = validate(InputItemsQuery, event.queryStringParameters ?? {});
  const id = idOf(event);
  const stored = await storedResponse(deps, organization, id);
  return jsonReply(event.requestId, 200, listItems(stored, query), headers);
});
