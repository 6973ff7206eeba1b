import { App } from 'aws-cdk-lib';
import { addStacks } from './stacks/all-stacks.ts';

addStacks(new App());
