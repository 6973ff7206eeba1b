import { environmentVariable } from '../environment/environment-variable.ts';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

let last: AwsCredentials | undefined;

/**
 * The function's credentials, which Lambda passes in its environment. A change takes effect at once, because a secret
 * and a token belong to one id for good. Only the id is read for each call: reading a variable takes a microsecond.
 */
export const environmentCredentials = (): AwsCredentials => {
  const accessKeyId = environmentVariable('AWS_ACCESS_KEY_ID');
  if (last?.accessKeyId !== accessKeyId)
    last = {
      accessKeyId,
      secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
      sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
    };
  return last;
};
