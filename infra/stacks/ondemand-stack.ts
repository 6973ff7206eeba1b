import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { InferenceHost } from '../constructs/hosts/inference-host.ts';
import type { DataStack } from './data-stack.ts';
import type { DeploymentsStack } from './deployments-stack.ts';
import type { ServerlessStack } from './serverless-stack.ts';

interface OndemandStackProps {
  config: Config;
  data: DataStack;
  deployments: DeploymentsStack;
  serverless: ServerlessStack;
}

/**
 * The on-demand host, for on-demand API keys and organizations' own deployments. What all inference hosts share is in
 * the serverless stack.
 */
export class OndemandStack extends Stack {
  readonly host: InferenceHost;

  constructor(scope: Construct, id: string, { config, data, deployments, serverless }: OndemandStackProps) {
    super(scope, id);
    this.host = new InferenceHost(this, 'Host', {
      config,
      data,
      settlements: serverless.settlements,
      payloadRedaction: serverless.payloadRedaction,
      tokenizer: serverless.tokenizer,
      deployments: deployments.function,
      keyScope: 'on_demand',
      otherHostUrl: serverless.host.url,
      authorization:
        'The function checks API keys in the same write that admits the request. The interface requires health and version to be public.',
    });
    // The control stack imports it for the URL, until the host gets a domain.
    this.exportValue(this.host.api.restApiId);
    serverless.refusals.countOf(this.host);
    new CfnOutput(this, 'OndemandUrl', {
      value: `${this.host.url}/v1`,
      description: 'The base URL for OpenAI clients that call deployments.',
    });
  }
}
