import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { assemblyDir } from './assembly.ts';
import { isolatedAssembly } from './isolated-assembly.ts';

export const stackNames = [
  'data',
  'identity',
  'gateway',
  'deployments',
  'billing',
  'notifications',
  'serverless',
  'ondemand',
  'control',
  'support',
  'operations',
] as const;
// Only some settings add these stacks.
const OPTIONAL = ['telemetry', 'keys'] as const;
export type StackName = (typeof stackNames)[number] | (typeof OPTIONAL)[number];

const fileOf = (folder: string, stack: StackName): string => path.join(folder, `sluice-${stack}.template.json`);

/** The template of a stack in the cloud assembly that was made before all tests. */
export const templateOf = (stack: StackName): Template => readTemplate(assemblyDir(), stack);

/** The template of a stack in a cloud assembly. */
export const readTemplate = (folder: string, stack: StackName): Template =>
  Template.fromString(readFileSync(fileOf(folder, stack), 'utf8'));

/**
 * The templates of the app with these settings of a deployer, without bundles, which are slow.
 * @throws Error with the app's error output if it rejects the settings, or if they break a rule of cdk-nag
 */
export const templatesWith = async (settings: object): Promise<(stack: StackName) => Template> => {
  const folder = await isolatedAssembly({ sluice: settings, 'aws:cdk:bundling-stacks': [] });
  const read = [...stackNames, ...OPTIONAL]
    .filter((name) => existsSync(fileOf(folder, name)))
    .map((name) => [name, readTemplate(folder, name)] as const);
  const templates = new Map(read);
  return (stack) => {
    const template = templates.get(stack);
    if (!template) throw new Error(`There is no stack sluice-${stack}.`);
    return template;
  };
};
