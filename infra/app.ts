import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readConfig } from './config.ts';
import { DataStack } from './stacks/data-stack.ts';
import { OperationsStack } from './stacks/operations-stack.ts';
import { ServerlessStack } from './stacks/serverless-stack.ts';

const app = new App();
const config = readConfig(app.node.tryGetContext('sluice'));

const data = new DataStack(app, `${config.name}-data`, { terminationProtection: true });
const serverless = new ServerlessStack(app, `${config.name}-serverless`, { config, data });
new OperationsStack(app, `${config.name}-operations`, { config, serverless });

Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
