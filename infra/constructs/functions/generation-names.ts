import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { awsPrefixOf } from '../../../shared/deployments/names.ts';
import { prefixes, RANDOM_CHARACTERS } from '../../../shared/ids/id.ts';
import type { Config } from '../../config/config.ts';

// Installations whose names begin with the same text don't match one another's generations, as ids have no dashes.
const generationNames = ({ name }: Config): string => `${awsPrefixOf(name, prefixes.deployment + '?'.repeat(RANDOM_CHARACTERS))}*`;

/** The ARNs of what each generation has on SageMaker. */
export const generationArns = (scope: Construct, config: Config, ...kinds: readonly string[]): string[] => {
  const { partition, account, region } = Stack.of(scope);
  return kinds.map((kind) => `arn:${partition}:sagemaker:${region}:${account}:${kind}/${generationNames(config)}`);
};

/** The ARNs of the log groups that SageMaker creates for the containers of generations. */
export const generationLogArns = (
  scope: Construct,
  config: Config,
  ...kinds: readonly ('Endpoints' | 'InferenceComponents')[]
): string[] => {
  const { partition, account, region } = Stack.of(scope);
  return kinds.map((kind) => `arn:${partition}:logs:${region}:${account}:log-group:/aws/sagemaker/${kind}/${generationNames(config)}`);
};
