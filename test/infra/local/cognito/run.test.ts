import { createServer } from 'node:http';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { startLocal } from '../../../../infra/local/run.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { eventually, fixtureStacks, processState, writeAssembly } from '../fixtures.ts';

const identity = {
  resources: {
    People: { Type: 'AWS::Cognito::UserPool', Properties: { UsernameAttributes: ['email'] } },
    PeopleClient: { Type: 'AWS::Cognito::UserPoolClient', Properties: { UserPoolId: { Ref: 'People' } } },
  },
};

const startRun = async (folder: string, stacks: typeof fixtureStacks, containerUrl: string) => {
  const assemblyDir = path.join(folder, 'cdk.out');
  await writeAssembly(assemblyDir, stacks);
  return startLocal({
    assemblyDir,
    stateDir: path.join(folder, 'state'),
    containerUrl,
    ephemeral: true,
    port: 0,
    environments: undefined,
    stopOnDisconnect: false,
    tokenDelayMs: 0,
    quiet: true,
  });
};

test('an app with a user pool gets a Cognito emulator, whose URL its functions have, until the run stops', async () => {
  await using folder = temporaryFolder();
  const container = createServer();
  const run = await startRun(folder.path, { ...fixtureStacks, 'test-identity': identity }, await listen(container, 0));
  expect(run.userPools).toEqual({ People: { id: expect.stringMatching(/^us-east-1_/), clientId: expect.any(String) } });
  expect(await run.invoke('buffered', { action: 'environment' })).toMatchObject({
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: run.cognitoUrl,
    AWS_ENDPOINT_URL_SAGEMAKER: run.sagemakerUrl,
  });
  const reply = await fetch(`${run.cognitoUrl}/${run.userPools.People?.id}/.well-known/jwks.json`);
  expect(reply.status).toBe(200);
  const pid = run.pids().cognito as number;
  await run.close();
  await eventually(() => processState(pid) === undefined, 'cognito-local has ended');
  await closeServer(container);
});

test('an app without a user pool gets no Cognito emulator', async () => {
  await using folder = temporaryFolder();
  const container = createServer();
  const run = await startRun(folder.path, fixtureStacks, await listen(container, 0));
  expect([run.cognitoUrl, run.userPools, run.pids().cognito]).toEqual([null, {}, null]);
  expect(await run.invoke('buffered', { action: 'environment' })).not.toHaveProperty('AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER');
  await run.close();
  await closeServer(container);
});
