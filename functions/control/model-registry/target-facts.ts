import {
  DescribeEndpointCommand,
  DescribeInferenceComponentCommand,
  ListTagsCommand,
  type ListTagsCommandOutput,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { InvalidRequest, ServiceUnavailable } from '../../../shared/http/errors.ts';
import type { Target } from '../../../shared/models/model.ts';

const MAX_CALL_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;
// For all calls of one target.
const TOTAL_TIMEOUT_MS = 10_000;
const MAX_SOCKETS = 16;
// A resource has at most 50 tags besides those of AWS, and a page holds 50.
const MAX_TAG_PAGES = 4;
const REGION = /^[a-z]{2,4}(-[a-z]+)+-\d+$/;

/** SageMaker's facts about a target. */
export interface TargetFacts {
  /** undefined: the endpoint does not exist. */
  endpointStatus: string | undefined;
  endpointTags: Record<string, string>;
  /** Only if the target names an inference component that exists. Its endpoint can differ from the target's. */
  componentStatus?: string;
  componentEndpoint?: string;
  componentTags?: Record<string, string>;
}

/** SageMaker denies access to a target, which the admin can correct: 400. */
export class TargetInaccessible extends InvalidRequest {
  constructor(region: string | undefined, cause?: unknown) {
    super({
      message: `Sluice has no access to endpoints in ${placeOf(region)}. Check its name, that the account has enabled it, and that the setting endpointRegions includes it; without that setting, use the deployment's own region.`,
      param: 'region',
    });
    this.cause = cause;
  }
}

// After the SDK's retries. The cause is for the log.
class SageMakerUnavailable extends ServiceUnavailable {}

/** The region of a target in a message. */
export const placeOf = (region: string | undefined): string =>
  region === undefined ? "the deployment's own region" : `the region '${region}'`;

type ClientOf = (region: string | undefined) => SageMakerClient;

/**
 * Creates clients of SageMaker's control API, one per region, each on first use. Without a region, the environment's
 * region is used.
 */
export const createSageMakerClients = (): ClientOf => {
  const clients = new Map<string, SageMakerClient>();
  const requestHandler = new NodeHttpHandler({
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
  });
  return (region = '') => {
    const client =
      clients.get(region) ?? new SageMakerClient({ ...(region && { region }), maxAttempts: MAX_CALL_ATTEMPTS, requestHandler });
    clients.set(region, client);
    return client;
  };
};

interface Lookup {
  client: SageMakerClient;
  abortSignal: AbortSignal;
}

const tagsOf = async ({ client, abortSignal }: Lookup, arn: string | undefined): Promise<Record<string, string>> => {
  const tags: Record<string, string> = {};
  let token: string | undefined;
  for (let page = 1; page <= MAX_TAG_PAGES; page++) {
    const listed: ListTagsCommandOutput = await client.send(new ListTagsCommand({ ResourceArn: arn, NextToken: token }), { abortSignal });
    for (const { Key, Value } of listed.Tags ?? []) if (Key !== undefined) tags[Key] = Value ?? '';
    token = listed.NextToken;
    if (token === undefined) break;
  }
  return tags;
};

const describeEndpoint = async (lookup: Lookup, name: string) => {
  const { client, abortSignal } = lookup;
  const { EndpointStatus, EndpointArn } = await client.send(new DescribeEndpointCommand({ EndpointName: name }), { abortSignal });
  return { endpointStatus: EndpointStatus ?? 'Unknown', endpointTags: await tagsOf(lookup, EndpointArn) };
};

const describeComponent = async (lookup: Lookup, name: string) => {
  const { client, abortSignal } = lookup;
  const described = await client.send(new DescribeInferenceComponentCommand({ InferenceComponentName: name }), { abortSignal });
  return {
    componentStatus: described.InferenceComponentStatus ?? 'Unknown',
    componentEndpoint: described.EndpointName ?? '',
    componentTags: await tagsOf(lookup, described.InferenceComponentArn),
  };
};

// SageMaker uses the same error for a missing resource and an invalid name.
const isAbsent = (error: unknown): boolean => (error as Error).name === 'ValidationException';

const orNone = async <Found>(found: Promise<Found>): Promise<Found | undefined> => {
  try {
    return await found;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
};

// A region that is not enabled in the account rejects its credentials; a region that does not exist has no address.
const REFUSALS = new Set(['AccessDeniedException', 'AccessDenied', 'OptInRequired', 'UnrecognizedClientException', 'InvalidClientTokenId']);
const OUTAGES = new Set(['ThrottlingException', 'ServiceUnavailable', 'InternalFailure', 'TimeoutError', 'AbortError']);
const NO_ADDRESS = 'ENOTFOUND';
const FIRST_SERVER_STATUS = 500;

// A mistake in the call itself is our bug and is returned unchanged.
const toApiError = (error: unknown, region: string | undefined): unknown => {
  const { name = '', code, $metadata } = error as { name?: string; code?: unknown; $metadata?: { httpStatusCode?: number } };
  if (REFUSALS.has(name) || (code === NO_ADDRESS && region !== undefined)) return new TargetInaccessible(region, error);
  const isNetwork = typeof code === 'string' && /^E[A-Z]+/.test(code);
  const isOutage = OUTAGES.has(name) || isNetwork || ($metadata?.httpStatusCode ?? 0) >= FIRST_SERVER_STATUS;
  return isOutage ? new SageMakerUnavailable(error) : error;
};

/** Reads facts from SageMaker's control API, which no other code calls. */
export const createTargetFacts = (clientOf: ClientOf) => ({
  /**
   * Returns SageMaker's facts about a target within 10 s.
   * @throws TargetInaccessible (400) if Sluice has no access, SageMakerUnavailable (503)
   */
  describe: async ({ endpoint, component, region }: Target): Promise<TargetFacts> => {
    // The region becomes part of a host name.
    if (region !== undefined && !REGION.test(region)) throw new TargetInaccessible(region);
    const lookup = { client: clientOf(region), abortSignal: AbortSignal.timeout(TOTAL_TIMEOUT_MS) };
    try {
      const [endpointFacts, componentFacts] = await Promise.all([
        orNone(describeEndpoint(lookup, endpoint)),
        component === undefined ? undefined : orNone(describeComponent(lookup, component)),
      ]);
      return { ...(endpointFacts ?? { endpointStatus: undefined, endpointTags: {} }), ...componentFacts };
    } catch (error) {
      throw toApiError(error, region);
    }
  },
});

export type EndpointFactsReader = ReturnType<typeof createTargetFacts>;
