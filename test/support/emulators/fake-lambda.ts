import { startFakeAws } from './fake-aws.ts';

/** With a session token, so their id is of no other credentials: a function takes an id for what it first came with. */
export const temporaryCredentials = { accessKeyId: 'ASIA', secretAccessKey: 'secret', sessionToken: 'token' };

/** A fake Lambda with the test's answers, which records its requests. Functions find it through the environment. */
export const startFakeLambda = async () => {
  const lambda = await startFakeAws();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: lambda.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: temporaryCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: temporaryCredentials.secretAccessKey,
    AWS_SESSION_TOKEN: temporaryCredentials.sessionToken,
  });
  return lambda;
};
