import { environmentVariable } from '../environment/environment-variable.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** The function's credentials, which Lambda passes in its environment. Read for each call, so that a change takes effect. */
export const environmentCredentials = (): Credentials => ({
  accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
  secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
  sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
});
