import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { EPOCH_INDEX } from '../../shared/admission/limiter-store.ts';
import type { Config } from '../config/config.ts';
import { INFERENCE_TIMEOUT, InferenceHost } from '../constructs/inference-host.ts';
import { NodeFunction } from '../constructs/node-function.ts';
import { Rollups } from '../constructs/rollups.ts';
import type { DataStack } from './data-stack.ts';

/** A request older than this has no function any more. */
const MAX_FLIGHT = INFERENCE_TIMEOUT.plus(Duration.seconds(60));
/** Lambda gives CPU by memory: this is one whole one, and more would not make one thread faster. */
const ONE_CPU_MB = 1_769;
const SWEEP_EVERY = Duration.minutes(5);

/** The serverless host: shared models, API keys. With it what all hosts that serve models have in common: tokenizer, sweep, rollups. */
export class ServerlessStack extends Stack {
  readonly host: InferenceHost;
  readonly metering: NodeFunction;
  readonly rollups: Rollups;
  readonly tokenizer: NodeFunction;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id);
    this.tokenizer = new NodeFunction(this, 'Tokenizer', {
      config,
      name: 'tokenizer',
      memoryMb: ONE_CPU_MB,
      timeout: Duration.seconds(20),
    });
    data.tokenizers.grantRead(this.tokenizer);

    this.host = new InferenceHost(this, 'Host', {
      config,
      data,
      tokenizer: this.tokenizer,
      keyScope: 'serverless',
      otherHostUrl: config.ondemandUrl,
      authorization:
        'API keys are checked in the function, which admits with the same write; models, health and version are public by the interface.',
    });

    this.metering = new NodeFunction(this, 'Metering', { config, name: 'metering', memoryMb: 256, timeout: Duration.minutes(4) });
    this.metering.addEnvironment('MAX_FLIGHT_MS', String(MAX_FLIGHT.toMilliseconds()));
    data.keys.grant(this.metering, 'GetItem', 'PutItem', 'UpdateItem');
    data.keys.grantIndex(this.metering, EPOCH_INDEX);
    data.usage.grant(this.metering, 'PutItem', 'GetItem');
    new Rule(this, 'SweepSchedule', {
      schedule: Schedule.rate(SWEEP_EVERY),
      targets: [new LambdaTarget(this.metering, { retryAttempts: 0 })],
    });

    this.rollups = new Rollups(this, 'Rollups', { config, usage: data.usage });

    new CfnOutput(this, 'BaseUrl', { value: `${this.host.api.url}v1`, description: 'What an OpenAI client takes as its base URL.' });
  }
}
