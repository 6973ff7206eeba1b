import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { assemblyDir } from './assembly.ts';

export type StackName = 'data' | 'identity' | 'serverless' | 'ondemand' | 'control' | 'operations';

/** The template of a stack in the cloud assembly that was made before all tests. */
export const templateOf = (stack: StackName): Template =>
  Template.fromString(readFileSync(path.join(assemblyDir(), `sluice-${stack}.template.json`), 'utf8'));
