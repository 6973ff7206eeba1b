import { App } from 'aws-cdk-lib';
import { InvalidConfig } from './config/config.ts';
import { addStacks } from './stacks/all-stacks.ts';

try {
  addStacks(new App());
} catch (error) {
  if (!(error instanceof InvalidConfig)) throw error;
  console.error(error.message);
  // The app would otherwise synthesize the stacks that it has by then.
  process.exit(1);
}
