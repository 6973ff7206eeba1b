import { readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { ACCOUNT_ID, REGION } from '../../assembly/resolve.ts';
import { AwsError, type Operations, readInput } from '../http/json-api.ts';

const Value = z.object({ ClientRequestToken: z.string().min(32).max(64), SecretString: z.string().min(1).max(65_536) });
const CreateSecret = Value.extend({ Name: z.string().min(1).max(512) });
const SecretId = z.object({ SecretId: z.string().min(1).max(2_048) });
const PutSecretValue = Value.extend(SecretId.shape);
const GetSecretValue = SecretId.extend({ VersionId: z.string().optional() });
const DeleteSecret = SecretId.extend({ ForceDeleteWithoutRecovery: z.literal(true) });

const Secrets = z.record(z.string(), z.object({ current: z.string(), versions: z.record(z.string(), z.string()) }));
type Secrets = z.infer<typeof Secrets>;

const OWNER_ONLY = 0o600;

const load = (file: string | undefined): Secrets => {
  if (file === undefined) return {};
  try {
    return Secrets.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
};

const missing = (): AwsError => new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
const exists = (name: string): AwsError =>
  new AwsError('ResourceExistsException', `The operation failed because the secret ${name} already exists.`);

const arnOf = (name: string): string => `arn:aws:secretsmanager:${REGION}:${ACCOUNT_ID}:secret:${name}-AbCdEf`;

/**
 * Secrets Manager's calls CreateSecret, PutSecretValue, GetSecretValue and DeleteSecret
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_Operations.html), for secrets by name.
 * @param file keeps the secrets; undefined: they are in memory
 */
export const secretsOperations = (file?: string): Operations => {
  const secrets = new Map(Object.entries(load(file)));
  const save = (): void => {
    if (file !== undefined) writeFileSync(file, JSON.stringify(Object.fromEntries(secrets)), { mode: OWNER_ONLY });
  };
  const find = (name: string) => {
    const secret = secrets.get(name);
    if (!secret) throw missing();
    return secret;
  };
  const write = (name: string, version: string, text: string): object => {
    const versions = { ...secrets.get(name)?.versions, [version]: text };
    secrets.set(name, { current: version, versions });
    save();
    return { ARN: arnOf(name), Name: name, VersionId: version };
  };

  const createSecret = (body: unknown): object => {
    const { Name: name, ClientRequestToken: version, SecretString: text } = readInput(CreateSecret, body);
    const before = secrets.get(name);
    if (before && before.versions[version] !== text) throw exists(name);
    return write(name, version, text);
  };

  const putSecretValue = (body: unknown): object => {
    const { SecretId: name, ClientRequestToken: version, SecretString: text } = readInput(PutSecretValue, body);
    find(name);
    return write(name, version, text);
  };

  const getSecretValue = (body: unknown): object => {
    const { SecretId: name, VersionId } = readInput(GetSecretValue, body);
    const { current, versions } = find(name);
    const version = VersionId ?? current;
    const SecretString = versions[version];
    if (SecretString === undefined) throw missing();
    return { ARN: arnOf(name), Name: name, VersionId: version, SecretString };
  };

  const deleteSecret = (body: unknown): object => {
    const { SecretId: name } = readInput(DeleteSecret, body);
    find(name);
    secrets.delete(name);
    save();
    return { ARN: arnOf(name), Name: name };
  };

  return new Map([
    ['secretsmanager.CreateSecret', createSecret],
    ['secretsmanager.PutSecretValue', putSecretValue],
    ['secretsmanager.GetSecretValue', getSecretValue],
    ['secretsmanager.DeleteSecret', deleteSecret],
  ]);
};
