import { readFileSync } from 'node:fs';
import { CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { EPOCH_INDEX } from '../../shared/limiters/limiter-store.ts';
import type { Config } from '../config.ts';
import { grantInvokeEndpoints } from '../constructs/endpoints.ts';
import { grantInvoke } from '../constructs/invocation.ts';
import { NodeFunction } from '../constructs/node-function.ts';
import { RestHost } from '../constructs/rest-host.ts';
import { Rollups } from '../constructs/rollups.ts';
import type { DataStack } from './data-stack.ts';

const INFERENCE_TIMEOUT = Duration.seconds(600);
/** A request older than this has no function any more. */
const MAX_FLIGHT = INFERENCE_TIMEOUT.plus(Duration.seconds(60));
/** Lambda gives CPU by memory: this is one whole one, and more would not make one thread faster. */
const ONE_CPU_MB = 1_769;
const SWEEP_EVERY = Duration.minutes(5);

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/** What `inference` answers on POST; everything else is the catalog's. */
const INFERENCE_PATHS = ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/tokenize', '/detokenize'];

/** The serverless host: shared models, API keys. */
export class ServerlessStack extends Stack {
  readonly host: RestHost;
  readonly inference: NodeFunction;
  readonly catalog: NodeFunction;
  readonly metering: NodeFunction;
  readonly rollups: Rollups;
  readonly tokenizer: NodeFunction;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id);
    this.inference = new NodeFunction(this, 'Inference', { config, name: 'inference', memoryMb: 256, timeout: INFERENCE_TIMEOUT });
    data.keys.grant(this.inference, 'GetItem', 'UpdateItem');
    data.models.grant(this.inference, 'Query');
    data.usage.grant(this.inference, 'PutItem', 'GetItem');
    data.responses.grant(this.inference, 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem');
    grantInvokeEndpoints(this.inference, config);
    this.inference.addEnvironment('STRUCTURED_OUTPUTS', String(config.structuredOutputs));
    // A secret that nobody has to keep: the id ends in a random UUID, callers never see it, and no deployment changes it.
    this.inference.addEnvironment('CACHE_SALT_SECRET', this.stackId);

    this.tokenizer = new NodeFunction(this, 'Tokenizer', {
      config,
      name: 'tokenizer',
      memoryMb: ONE_CPU_MB,
      timeout: Duration.seconds(20),
    });
    data.tokenizers.grantRead(this.tokenizer);
    grantInvoke(this.inference, this.tokenizer, 'TOKENIZER_FUNCTION');

    this.catalog = new NodeFunction(this, 'Catalog', {
      config,
      name: 'catalog',
      memoryMb: 256,
      timeout: Duration.seconds(15),
      writes: { program: 'write-reference.ts', flags: config.structuredOutputs ? ['--structured-outputs'] : [] },
    });
    this.catalog.addEnvironment('SLUICE_VERSION', version);
    this.catalog.addEnvironment('SLUICE_COMMIT', config.commit);
    data.keys.grant(this.catalog, 'GetItem');
    data.models.grant(this.catalog, 'Query');
    data.responses.grant(this.catalog, 'GetItem', 'PutItem');

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

    this.host = new RestHost(this, 'Host', {
      config,
      name: 'serverless',
      fallback: this.catalog,
      authorization:
        'API keys are checked in the function, which admits with the same write; models, health and version are public by the interface.',
    });
    for (const path of INFERENCE_PATHS) this.host.stream(path, this.inference);
    new CfnOutput(this, 'BaseUrl', { value: `${this.host.api.url}v1`, description: 'What an OpenAI client takes as its base URL.' });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions::AwsSolutions-L1',
      reason: 'Node 24 is the newest runtime with a service agreement; 26 is a preview.',
    });
  }
}
