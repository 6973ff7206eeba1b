import { startFakeAws } from './fake-aws.ts';

/** A fake Lambda with the test's answers, which records its requests. Functions find it through the environment. */
export const startFakeLambda = async () => {
  const lambda = await startFakeAws();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_LAMBDA: lambda.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
  });
  return lambda;
};
