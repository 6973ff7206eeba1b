import { Annotations, type App, Aspects, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readConfig } from '../config/config.ts';
import { organizationConcurrencyOf } from '../config/shares.ts';
import { EncryptWith } from '../constructs/tables/encryption-key.ts';
import { BillingStack } from './billing-stack.ts';
import { ControlStack } from './control-stack.ts';
import { DataStack } from './data-stack.ts';
import { DeploymentsStack } from './deployments-stack.ts';
import { GatewayStack, hasGatewayStack } from './gateway-stack.ts';
import { IdentityStack } from './identity-stack.ts';
import { KeysStack } from './keys-stack.ts';
import { NotificationsStack } from './notifications-stack.ts';
import { OndemandStack } from './ondemand-stack.ts';
import { OperationsStack } from './operations-stack.ts';
import { ServerlessStack } from './serverless-stack.ts';
import { SupportStack } from './support-stack.ts';
import { TelemetryStack } from './telemetry-stack.ts';

/** Adds all stacks to the app, with the deployer's settings in its context. */
export const addStacks = (app: App): void => {
  // The CDK sets the variable, from the credentials' profile if nothing else says it.
  const config = readConfig(app.node.tryGetContext('sluice'), process.env.CDK_DEFAULT_REGION);

  const data = new DataStack(app, `${config.name}-data`, {
    terminationProtection: true,
    auditCopies: config.auditCopies,
    tables: config.tables,
    warmThroughput: config.warmThroughput,
    supportPromise: config.support.promise,
    organizationConcurrency: organizationConcurrencyOf(config),
  });
  const identity = new IdentityStack(app, `${config.name}-identity`, { config, data });
  const billing = new BillingStack(app, `${config.name}-billing`, { config, data });
  const deployments = new DeploymentsStack(app, `${config.name}-deployments`, { config, data, billing });
  const notifications = new NotificationsStack(app, `${config.name}-notifications`, { config, data });
  const serverless = new ServerlessStack(app, `${config.name}-serverless`, { config, data, deployments, billing });
  const ondemand = new OndemandStack(app, `${config.name}-ondemand`, { config, data, deployments, serverless });
  const control = new ControlStack(app, `${config.name}-control`, { config, data, billing, deployments, identity, serverless, ondemand });
  const support = new SupportStack(app, `${config.name}-support`, { config, data });
  const { telemetry: settings } = config;
  const telemetry = settings && new TelemetryStack(app, `${config.name}-telemetry`, { config, settings, data });
  new OperationsStack(app, `${config.name}-operations`, {
    config,
    billing,
    notifications,
    deployments,
    serverless,
    ondemand,
    control,
    support,
    ...(telemetry && { telemetry: telemetry.telemetry }),
  });
  if (config.reservedConcurrency === undefined)
    Annotations.of(serverless).addInfoV2(
      'sluice:reservedConcurrency',
      "Nothing is reserved. 'npm run deploy' reserves concurrency if the account has room.",
    );
  if (hasGatewayStack(config)) {
    const gateway = new GatewayStack(app, `${config.name}-gateway`, { config });
    for (const host of [serverless, ondemand, control]) host.addStackDependency(gateway);
  }
  if (config.customerManagedKey) {
    const { encryption } = new KeysStack(app, `${config.name}-keys`, { config });
    Aspects.of(app).add(new EncryptWith(encryption.key));
  }

  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
};
