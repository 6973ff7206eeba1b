import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { Rule } from 'aws-cdk-lib/aws-events';
import type { Construct } from 'constructs';
import { EPOCH_INDEX } from '../../shared/admission/stores/limiter-store.ts';
import type { Config } from '../config/config.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { runEvery } from '../constructs/functions/schedule.ts';
import { INFERENCE_TIMEOUT, InferenceHost } from '../constructs/hosts/inference-host.ts';
import { Refusals } from '../constructs/hosts/refusals.ts';
import { PayloadRedaction } from '../constructs/queues/payload-redaction.ts';
import { Rollups } from '../constructs/queues/rollups.ts';
import { Settlements } from '../constructs/queues/settlements.ts';
import type { BillingStack } from './billing-stack.ts';
import type { DataStack } from './data-stack.ts';
import type { DeploymentsStack } from './deployments-stack.ts';

// No function can still be working on a request that is older than this.
const MAX_IN_FLIGHT = INFERENCE_TIMEOUT.plus(Duration.seconds(60));
export const SWEEP_EVERY = Duration.minutes(5);

interface ServerlessStackProps {
  config: Config;
  data: DataStack;
  deployments: DeploymentsStack;
  billing: BillingStack;
}

/**
 * The serverless host, for shared models. It also has what all inference hosts share: tokenizer, settlements,
 * redaction of payloads, sweep, rollups and the count of refused requests.
 */
export class ServerlessStack extends Stack {
  readonly host: InferenceHost;
  readonly metering: NodeFunction;
  readonly sweepSchedule: Rule;
  readonly settlements: Settlements;
  readonly payloadRedaction: PayloadRedaction;
  readonly rollups: Rollups;
  readonly refusals: Refusals;
  readonly tokenizer: NodeFunction;

  constructor(scope: Construct, id: string, { config, data, deployments, billing }: ServerlessStackProps) {
    super(scope, id);
    const { domain: ondemandDomain } = config.hosts.ondemand;
    this.tokenizer = new NodeFunction(this, 'Tokenizer', {
      config,
      name: 'tokenizer',
      timeout: Duration.seconds(20),
    });
    data.tokenizers.grantRead(this.tokenizer);

    this.settlements = new Settlements(this, 'Settlements');
    const { usage, deployments: rows, observability, payloads, models, audit, notifications } = data;
    this.payloadRedaction = new PayloadRedaction(this, 'PayloadRedaction', { config, observability, payloads });
    this.host = new InferenceHost(this, 'Host', {
      config,
      data,
      settlements: this.settlements,
      payloadRedaction: this.payloadRedaction,
      tokenizer: this.tokenizer,
      deployments: deployments.function,
      keyScope: 'serverless',
      otherHostUrl: config.ondemandUrl ?? (ondemandDomain && `https://${ondemandDomain}`),
      authorization:
        'The function checks API keys in the same write that admits the request. The interface requires models, health and version to be public.',
    });

    // The on-demand stack imports it for the URL, until the host gets a domain. An export in use could not be removed
    // in that deployment.
    this.exportValue(this.host.api.restApiId);

    this.metering = new NodeFunction(this, 'Metering', { config, name: 'metering', timeout: Duration.minutes(4) });
    this.metering.addEnvironment('MAX_IN_FLIGHT_MS', String(MAX_IN_FLIGHT.toMilliseconds()));
    data.keys.grant(this.metering, 'GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem');
    data.keys.grantIndex(this.metering, EPOCH_INDEX);
    data.usage.grant(this.metering, 'PutItem', 'GetItem');
    this.settlements.grantSend(this.metering);
    this.settlements.deliverTo(this.metering);
    this.sweepSchedule = runEvery(this, 'SweepSchedule', this.metering, SWEEP_EVERY);

    this.rollups = new Rollups(this, 'Rollups', { config, usage, deployments: rows, observability, models, audit, notifications });
    // The budgets and the credit of who used something are compared with the thresholds of their alerts.
    billing.tasks.grantSend(this.rollups.function);
    this.refusals = new Refusals(this, 'Refusals', { config, observability });
    this.refusals.countOf(this.host);

    new CfnOutput(this, 'BaseUrl', { value: `${this.host.url}/v1`, description: 'The base URL for OpenAI clients.' });
  }
}
