import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { CloudFrontDistribution } from '../constructs/hosts/cloud-front.ts';
import { GatewayLogRole } from '../constructs/hosts/gateway-log-role.ts';
import { HostDomain } from '../constructs/hosts/host-domain.ts';

const IDS = { serverless: 'ServerlessDomain', ondemand: 'OndemandDomain', control: 'ControlDomain' } as const;
const CLOUD_FRONT_IDS = { serverless: 'ServerlessCloudFront', ondemand: 'OndemandCloudFront' } as const;

/** True if the gateway stack has a resource. CloudFormation rejects an empty stack. */
export const hasGatewayStack = ({ gatewayLogRole, hosts }: Config): boolean =>
  gatewayLogRole || Object.values(hosts).some(({ domain }) => domain !== undefined);

/** The account's role for API Gateway's logs, and the hosts' domains, which outlive the stacks of the hosts. */
export class GatewayStack extends Stack {
  constructor(scope: Construct, id: string, { config }: { config: Config }) {
    super(scope, id, { terminationProtection: true });
    if (config.gatewayLogRole) new GatewayLogRole(this, 'LogRole');
    for (const name of ['serverless', 'ondemand', 'control'] as const) {
      const { domain, certificateArn, ...more } = config.hosts[name];
      if (!domain || !certificateArn) continue;
      const { target } = new HostDomain(this, IDS[name], { domain, certificateArn });
      if (name !== 'control' && 'cloudFront' in more && more.cloudFront)
        new CloudFrontDistribution(this, CLOUD_FRONT_IDS[name], { config, name, domain, origin: target, ...more.cloudFront });
    }
  }
}
