import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  DescribeEndpointCommand,
  DescribeInferenceComponentCommand,
  ListTagsCommand,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { isAbsent } from '../../../functions/deployments/aws/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { failure, ok, type Row, warning } from './row.ts';

export interface ModelDependencies {
  /** The client of a region; undefined: the region of the deployment. */
  sagemakerIn: (region: string | undefined) => SageMakerClient;
  s3: S3Client;
  tokenizersBucket: string;
  endpointTag: string;
}

const hasTag = async (client: SageMakerClient, arn: string, tag: string): Promise<boolean> => {
  const { Tags = [] } = await client.send(new ListTagsCommand({ ResourceArn: arn, MaxResults: 100 }));
  return Tags.some(({ Key, Value }) => Key === tag && Value === 'true');
};

type Target = Model['targets'][number];

// Empty if the target can be invoked.
const faultsOfTarget = async (
  { sagemakerIn, endpointTag }: ModelDependencies,
  { endpoint, component, region }: Target,
): Promise<string[]> => {
  const client = sagemakerIn(region);
  const check = async (what: string, read: () => Promise<{ arn: string; status: string }>): Promise<string[]> => {
    try {
      const { arn, status } = await read();
      const isTagged = await hasTag(client, arn, endpointTag);
      return [
        ...(status === 'InService' ? [] : [`${what} is ${status}`]),
        ...(isTagged ? [] : [`${what} lacks the tag ${endpointTag}=true`]),
      ];
    } catch (error) {
      if (!isAbsent(error)) throw error;
      return [`${what} does not exist`];
    }
  };
  const ofEndpoint = await check(`endpoint ${endpoint}`, async () => {
    const { EndpointArn: arn = '', EndpointStatus: status = '' } = await client.send(
      new DescribeEndpointCommand({ EndpointName: endpoint }),
    );
    return { arn, status };
  });
  if (component === undefined) return ofEndpoint;
  const ofComponent = await check(`component ${component}`, async () => {
    const input = { InferenceComponentName: component };
    const { InferenceComponentArn: arn = '', InferenceComponentStatus: status = '' } = await client.send(
      new DescribeInferenceComponentCommand(input),
    );
    return { arn, status };
  });
  return [...ofEndpoint, ...ofComponent];
};

const missingFiles = async ({ s3, tokenizersBucket }: ModelDependencies, { tokenizer }: Model): Promise<string[]> => {
  if (!tokenizer) return [];
  const missing: string[] = [];
  for (const key of [tokenizer.tokenizer, tokenizer.config, tokenizer.chat_template].filter((file) => file !== undefined))
    try {
      await s3.send(new HeadObjectCommand({ Bucket: tokenizersBucket, Key: key }));
    } catch (error) {
      if ((error as { name?: string }).name !== 'NotFound') throw error;
      missing.push(`the tokenizer's file ${key} is missing`);
    }
  return missing;
};

/**
 * Checks that each published model can be called, and its prompts counted. One that no endpoint serves is a failure.
 */
export const modelRows = async (deps: ModelDependencies, models: readonly Model[]): Promise<Row[]> => {
  if (models.length === 0) return [warning('models', 'none is published', 'npm run admin -- publish-model --file model.json')];
  const rows: Row[] = [];
  for (const model of models) {
    const check = `model ${model.name}`;
    const ofTargets: string[][] = [];
    for (const target of model.targets) ofTargets.push(await faultsOfTarget(deps, target));
    const faults = [...ofTargets.flat(), ...(await missingFiles(deps, model))];
    const advice = 'Create or tag the endpoint, or publish the model with other targets or files: docs/publish-models.md.';
    const isDown = model.deployment === undefined && ofTargets.every((each) => each.length > 0);
    if (faults.length === 0) rows.push(ok(check, `${model.targets.length} of its targets in service`));
    else rows.push((isDown || ofTargets.flat().length < faults.length ? failure : warning)(check, faults.join('; '), advice));
  }
  return rows;
};
