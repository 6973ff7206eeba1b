import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { InvokeEndpointCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { containerProgram } from '../../../infra/local/container.ts';
import { type LocalRun, startLocal } from '../../../infra/local/run.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { fixtureStacks, writeAssembly } from './fixtures.ts';
import { componentOf, createComponent, createEmptyEndpoint, endpointOf, setCopies } from './sagemaker/deployment.ts';

// Keeps the endpoint events that invoke it.
const changes = {
  resources: {
    Changes: {
      Type: 'AWS::Events::Rule',
      Properties: {
        EventPattern: { source: ['aws.sagemaker'], detail: { EndpointName: [{ prefix: 'dep-' }], EndpointStatus: ['IN_SERVICE'] } },
        Targets: [{ Id: 'Target0', Arn: 'arn:aws:lambda:us-east-1:000000000000:function:test-serverless-Buffered' }],
      },
    },
  },
};
const folder = temporaryFolder();
let run: LocalRun;
let program: string;
let sagemaker: SageMakerClient;
let runtime: SageMakerRuntimeClient;

beforeAll(async () => {
  program = await containerProgram();
  const assemblyDir = path.join(folder.path, 'cdk.out');
  await writeAssembly(assemblyDir, { ...fixtureStacks, 'test-changes': changes });
  run = await startLocal({
    assemblyDir,
    stateDir: path.join(folder.path, 'state'),
    ephemeral: true,
    port: 0,
    environments: undefined,
    stopOnDisconnect: false,
    tokenDelayMs: 0,
    quiet: true,
  });
  const config = { endpoint: run.sagemakerUrl, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
  sagemaker = new SageMakerClient(config);
  runtime = new SageMakerRuntimeClient(config);
  const times = { instance_ms: 1, download_ms: 1, load_ms: 1, delete_ms: 1 };
  await fetch(`${run.sagemakerUrl}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times }) });
});
afterAll(async () => {
  sagemaker.destroy();
  runtime.destroy();
  await run.close();
  await folder[Symbol.asyncDispose]();
});

const plane = () => ({ sagemaker }) as Parameters<typeof createEmptyEndpoint>[0];

// The names of the component containers that this process has started and that still run.
const servedNames = (): string[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const isChild = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid);
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return isChild && words.includes(program) ? [words[words.indexOf('--model') + 1] ?? ''] : [];
      } catch {
        // It has just exited.
        return [];
      }
    });

const complete = async (model: string): Promise<{ model: string }> => {
  const { Body } = await runtime.send(
    new InvokeEndpointCommand({
      EndpointName: 'dep-1',
      InferenceComponentName: 'dep-1',
      ContentType: 'application/json',
      Body: Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2 })),
    }),
  );
  return JSON.parse(Buffer.from(Body ?? []).toString());
};

test('runs a process for each component in service, which serves its name and stops with its last copy', async () => {
  await createEmptyEndpoint(plane(), 'dep-1');
  await eventually(async () => (await endpointOf(plane(), 'dep-1')).EndpointStatus === 'InService', 'the endpoint is in service');
  await createComponent(plane(), 'dep-1');
  const inService = async () => (await componentOf(plane(), 'dep-1')).InferenceComponentStatus === 'InService';
  await eventually(inService, 'the component is in service');
  expect(await complete('dep-1-served')).toMatchObject({ model: 'dep-1-served' });
  await expect(complete('sluice-tiny')).rejects.toMatchObject({ name: 'ModelError', OriginalStatusCode: 404 });
  expect(servedNames().sort()).toEqual(['dep-1-served', 'sluice-tiny']);
  await setCopies(plane(), 'dep-1', 0);
  await eventually(async () => servedNames().length === 1, 'the container has exited');
  await expect(complete('dep-1-served')).rejects.toThrow('Inference Component has no capacity');
});

test('the change of an endpoint invokes the function whose rule matches', async () => {
  const changesSeen = async () => ((await run.invoke('buffered', { action: 'events' })) as object[]).length;
  const before = await changesSeen();
  await createEmptyEndpoint(plane(), 'other');
  await eventually(async () => (await endpointOf(plane(), 'other')).EndpointStatus === 'InService', 'the other endpoint is in service');
  await createEmptyEndpoint(plane(), 'dep-2');
  await eventually(async () => (await changesSeen()) > before, 'the change was seen');
  expect(await changesSeen()).toBe(before + 1);
});
