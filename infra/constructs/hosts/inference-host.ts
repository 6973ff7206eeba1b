import { Duration, Stack } from 'aws-cdk-lib';
import { Alias, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { HostScope } from '../../../shared/hosts/host.ts';
import { routesOfHost } from '../../../shared/hosts/inference-routes.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/release.ts';
import { heldRequestsOf } from '../../config/shares.ts';
import { Canary } from '../alarms/canary.ts';
import { grantInvokeEndpoints } from '../functions/endpoints.ts';
import { grantInvoke } from '../functions/invocation.ts';
import { NodeFunction } from '../functions/node-function.ts';
import type { PayloadRedaction } from '../queues/payload-redaction.ts';
import type { Settlements } from '../queues/settlements.ts';
import type { Table } from '../tables/table.ts';
import { RestHost } from './rest-host.ts';

export const INFERENCE_TIMEOUT = Duration.seconds(600);
// AWS's own clients need more memory.
const SDK_MB = 256;
// Callers get the version of this alias.
const LIVE_ALIAS = 'live';

// Names of a host and its functions, by the scope of the keys that it accepts.
const NAMES = {
  serverless: { host: 'serverless', inference: 'inference', catalog: 'catalog' },
  on_demand: { host: 'ondemand', inference: 'ondemand-inference', catalog: 'ondemand-catalog' },
} as const;

interface InferenceHostProps {
  config: Config;
  data: { keys: Table; models: Table; usage: Table; responses: Table; deployments: Table; observability: Table };
  /** Shared by all hosts. */
  settlements: Settlements;
  payloadRedaction: PayloadRedaction;
  tokenizer: NodeFunction;
  /** The function that wakes deployments. */
  deployments: NodeFunction;
  /** The scope of the keys that the host accepts. */
  keyScope: HostScope;
  /** The URL of the other host, if known. It is sent to callers whose key is for that host. */
  otherHostUrl?: string | undefined;
  /** Why the API has no authorizer: where callers are authenticated instead. */
  authorization: string;
}

/** A host that serves models: its two functions, built from the same folders for every host, and their permissions. */
export class InferenceHost extends RestHost {
  readonly inference: NodeFunction;
  readonly catalog: NodeFunction;
  /** Only if the configuration has `canary`. */
  readonly canary?: Canary;

  constructor(scope: Construct, id: string, props: InferenceHostProps) {
    const { config, keyScope, authorization } = props;
    const inference = createInference(scope, props);
    const catalog = createCatalog(scope, props);
    const prompts = routesOfHost(keyScope).flatMap(({ path, servedBy }) => (servedBy === 'inference' ? [path] : []));
    super(scope, id, { config, name: NAMES[keyScope].host, fallback: catalog, authorization, prompts });
    this.inference = inference;
    this.catalog = catalog;
    const alias = createAlias(inference, props);
    if (alias && config.canary) this.canary = new Canary(this, 'Canary', alias);
    const handler = (alias ?? inference) as IFunction;
    for (const path of prompts) this.stream(path, handler);
  }
}

const createInference = (scope: Construct, props: InferenceHostProps): NodeFunction => {
  const { config, data, settlements, payloadRedaction, tokenizer, deployments, keyScope } = props;
  const inference = new NodeFunction(scope, 'Inference', {
    config,
    name: 'inference',
    as: NAMES[keyScope].inference,
    entry: config.requestClient === 'sdk' ? 'sdk-handler.ts' : 'handler.ts',
    isSmall: true,
    ...(config.requestClient === 'sdk' && { leastMb: SDK_MB }),
    timeout: INFERENCE_TIMEOUT,
  });
  setHostVariables(inference, props);
  data.keys.grant(inference, 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem');
  data.models.grant(inference, 'Query');
  data.usage.grant(inference, 'PutItem', 'GetItem');
  data.responses.grant(inference, 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem');
  // The payload log: whether and how content is logged, how many payloads of an organization wait, and where they go.
  data.observability.grant(inference, 'BatchGetItem', 'UpdateItem');
  payloadRedaction.grantSend(inference);
  grantInvokeEndpoints(inference, config);
  grantInvoke(inference, tokenizer, 'TOKENIZER_FUNCTION');
  settlements.grantSend(inference);
  // A request for a sleeping deployment wakes it.
  data.deployments.grant(inference, 'GetItem', 'UpdateItem');
  grantInvoke(inference, deployments, 'DEPLOYMENTS_FUNCTION');
  const { ofDeployment, ofOrganization, ofCaller } = heldRequestsOf(config);
  inference.addEnvironment('MAX_HELD_REQUESTS', String(ofDeployment));
  inference.addEnvironment('MAX_HELD_REQUESTS_OF_ORGANIZATION', String(keyScope === 'on_demand' ? ofOrganization : ofCaller));
  // A secret that nobody has to manage: the stack's id ends in a random UUID, callers never see it, and deployments
  // don't change it.
  inference.addEnvironment('CACHE_SALT_SECRET', Stack.of(scope).stackId);
  return inference;
};

// Without an alias, a deployment replaces the function at once. Versions stay until the function is deleted, because a
// stream can run on one for ten minutes after it was replaced.
const createAlias = (inference: NodeFunction, { config, keyScope }: InferenceHostProps): Alias | undefined => {
  const provisioned = config.provisionedConcurrency[NAMES[keyScope].inference];
  if (!config.canary && provisioned === 0) return undefined;
  return new Alias(inference, 'Live', {
    aliasName: LIVE_ALIAS,
    version: inference.currentVersion as IVersion,
    ...(provisioned > 0 && { provisionedConcurrentExecutions: provisioned }),
  });
};

const createCatalog = (scope: Construct, props: InferenceHostProps): NodeFunction => {
  const { config, data, keyScope } = props;
  const catalog = new NodeFunction(scope, 'Catalog', {
    config,
    name: 'catalog',
    as: NAMES[keyScope].catalog,
    timeout: Duration.seconds(15),
    reference: { host: keyScope },
  });
  setHostVariables(catalog, props);
  catalog.addEnvironment('SLUICE_VERSION', version);
  catalog.addEnvironment('SLUICE_COMMIT', config.commit);
  data.keys.grant(catalog, 'GetItem', 'BatchGetItem');
  data.models.grant(catalog, 'Query');
  data.responses.grant(catalog, 'GetItem', 'PutItem');
  return catalog;
};

// A function must know which host it serves, and the URL of the other one.
const setHostVariables = (fn: NodeFunction, { keyScope, otherHostUrl }: InferenceHostProps): void => {
  fn.addEnvironment('HOST_SCOPE', keyScope);
  if (otherHostUrl !== undefined) fn.addEnvironment('OTHER_HOST_URL', otherHostUrl);
};
