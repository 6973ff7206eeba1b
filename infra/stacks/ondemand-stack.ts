import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { InferenceHost } from '../constructs/inference-host.ts';
import type { DataStack } from './data-stack.ts';
import type { ServerlessStack } from './serverless-stack.ts';

export interface OndemandStackProps {
  config: Config;
  data: DataStack;
  serverless: ServerlessStack;
}

/** The on-demand host: an organization's own deployments, on-demand API keys. Tokenizer, sweep and rollups are those of the serverless stack. */
export class OndemandStack extends Stack {
  readonly host: InferenceHost;

  constructor(scope: Construct, id: string, { config, data, serverless }: OndemandStackProps) {
    super(scope, id);
    this.host = new InferenceHost(this, 'Host', {
      config,
      data,
      tokenizer: serverless.tokenizer,
      keyScope: 'on_demand',
      otherHostUrl: serverless.host.url,
      authorization:
        'API keys are checked in the function, which admits with the same write; health and version are public by the interface.',
    });
    new CfnOutput(this, 'OndemandUrl', {
      value: `${this.host.api.url}v1`,
      description: 'What an OpenAI client takes as its base URL to call deployments.',
    });
  }
}
