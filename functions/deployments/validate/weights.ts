import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import type { DeploymentFindings, DeploymentToValidate } from '../../../shared/deployments/validation.ts';

type Weights = DeploymentFindings['weights'];

const S3_URI = /^s3:\/\/([a-z0-9.-]{3,63})\/(.+\/)$/;
// A page has up to 1,000 keys; a model has some hundred files.
const MAX_KEY_PAGES = 5;

// An image executes or obeys these files: handlers, packages to install, and DJL Serving's settings, one of which lets
// a model bring code.
const CODE = ['model.py', 'requirements.txt', 'serving.properties'];
const isCode = (path: string): boolean => path.startsWith('code/') || CODE.includes(path);

const CODE_ADVICE = `Remove code/, ${CODE.slice(0, -1).join(', ')} and ${CODE.at(-1)}, or ask your administrator to allow code for this deployment.`;

const listKeys = async (client: S3Client, bucket: string, prefix: string): Promise<string[] | undefined> => {
  const keys: string[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_KEY_PAGES; page++) {
    const input = { Bucket: bucket, Prefix: prefix, ...(token !== undefined && { ContinuationToken: token }) };
    const { Contents = [], NextContinuationToken } = await client.send(new ListObjectsV2Command(input));
    keys.push(...Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(prefix.length)])));
    token = NextContinuationToken;
    if (token === undefined) return keys;
  }
  return undefined;
};

const judge = (model: string, keys: readonly string[] | undefined, allowsCode: boolean): Weights => {
  const failed = (message: string): Weights => ({ passed: false, message });
  if (!keys) return failed(`${model} has more than ${MAX_KEY_PAGES},000 files. Put the model into a folder of its own.`);
  const files = keys.filter((key) => key !== '' && !key.endsWith('/'));
  if (files.length === 0) return failed(`${model} has no files. Upload the model's files, or correct the location.`);
  const code = files.filter(isCode);
  if (code.length > 0 && !allowsCode) return failed(`${model} contains code (${code[0]}). ${CODE_ADVICE}`);
  if (!files.includes('config.json'))
    return failed(`${model} has no config.json. Upload the model's files as they are, not in an archive or a subfolder.`);
  return { passed: true, message: `The folder has ${files.length} files.` };
};

/**
 * Checks that a deployment's weights can be used. Models on the Hugging Face Hub are not checked. @throws the SDK's
 * errors
 */
export const checkWeights = async (
  client: S3Client,
  { model, allows_code }: Pick<DeploymentToValidate, 'model' | 'allows_code'>,
): Promise<Weights> => {
  const [, bucket, prefix] = S3_URI.exec(model) ?? [];
  if (bucket === undefined || prefix === undefined)
    return model.startsWith('s3://')
      ? { passed: false, message: `${model} is not a folder of S3. Expected s3://bucket/folder/, with a slash at the end.` }
      : { passed: true, message: 'The model is loaded from the Hugging Face Hub when the deployment starts.' };
  return judge(model, await listKeys(client, bucket, prefix), allows_code);
};
