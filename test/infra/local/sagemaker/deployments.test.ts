import { createServer } from 'node:http';
import {
  ApplicationAutoScalingClient,
  PutScalingPolicyCommand,
  RegisterScalableTargetCommand,
} from '@aws-sdk/client-application-auto-scaling';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { CreateInferenceComponentCommand, DeleteInferenceComponentCommand, SageMakerClient } from '@aws-sdk/client-sagemaker';
import { InvokeEndpointCommand, SageMakerRuntimeClient } from '@aws-sdk/client-sagemaker-runtime';
import { ListServiceQuotasCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ServiceEvent } from '../../../../infra/local/event-bus.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import type { StartedContainer } from '../../../../infra/local/sagemaker/component-containers.ts';
import { ADAPTER_HEADER } from '../../../../infra/local/sagemaker/container-request.ts';
import { type SageMakerEmulator, startSageMaker } from '../../../../infra/local/sagemaker/server.ts';
import { eventually } from '../../../support/eventually.ts';
import { componentOf, createComponent, createEmptyEndpoint, endpointOf, setCopies, VARIANT } from './deployment.ts';

const NO_WAIT = Object.fromEntries(
  ['instance_ms', 'download_ms', 'load_ms', 'delete_ms', 'release_ms', 'scale_out_ms', 'scale_in_ms'].map((name) => [name, 0]),
);
let emulator: SageMakerEmulator;
let sagemaker: SageMakerClient;
let runtime: SageMakerRuntimeClient;
// In the order of their start; a stopped container is no longer in it.
const running: string[] = [];
// The containers that loaded an adapter.
const loads: string[] = [];
const events: ServiceEvent[] = [];
let held: Promise<void> = Promise.resolve();

// It answers with its name.
const startContainer = (environment: Readonly<Record<string, string>>): StartedContainer => {
  const name = environment.SM_VLLM_SERVED_MODEL_NAME ?? '';
  const server = createServer(async (request, response) => {
    request.resume();
    await held;
    const { [ADAPTER_HEADER]: adapter } = request.headers;
    if (request.url === '/adapters') loads.push(name);
    response.end(JSON.stringify({ model: name, ...(adapter !== undefined && { adapter }) }));
  });
  running.push(name);
  const ready = listen(server, 0).then((url) => ({ url, path: '/invocations' }));
  const close = async () => {
    running.splice(running.indexOf(name), 1);
    await ready;
    await closeServer(server);
  };
  return { ready, close };
};

beforeEach(async () => {
  events.length = 0;
  loads.length = 0;
  held = Promise.resolve();
  emulator = await startSageMaker(new Map([['static', { url: 'http://127.0.0.1:1', component: 'static-1' }]]), {
    startContainer,
    onEvent: (event) => events.push(event),
  });
  sagemaker = new SageMakerClient(config());
  runtime = new SageMakerRuntimeClient(config());
  expect((await control('PUT', { times: NO_WAIT })).settings.times.instance_ms).toBe(0);
});
afterEach(async () => {
  sagemaker.destroy();
  runtime.destroy();
  await emulator.close();
  expect(running).toEqual([]);
});

const config = () => ({
  endpoint: emulator.url,
  region: 'us-east-1',
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  maxAttempts: 1,
});
// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the answer.
const control = async (method: string, body?: object): Promise<any> => {
  const response = await fetch(`${emulator.url}/control/deployments`, { method, ...(body && { body: JSON.stringify(body) }) });
  expect(response.status).toBe(200);
  return response.json();
};
const plane = () => ({ sagemaker }) as Parameters<typeof createEmptyEndpoint>[0];
const invoke = async (EndpointName: string, InferenceComponentName = EndpointName) => {
  const { Body } = await runtime.send(new InvokeEndpointCommand({ EndpointName, InferenceComponentName, Body: Buffer.from('{}') }));
  return JSON.parse(Buffer.from(Body ?? []).toString());
};
const until = (what: string, isTrue: () => Promise<boolean>) => eventually(isTrue, what);
const deploy = async (name: string): Promise<void> => {
  await createEmptyEndpoint(plane(), name);
  await until('the endpoint is in service', async () => (await endpointOf(plane(), name)).EndpointStatus === 'InService');
  await createComponent(plane(), name);
  await inService(name);
};
const inService = (name: string) =>
  until('the component is in service', async () => (await componentOf(plane(), name)).InferenceComponentStatus === 'InService');

test('each component is served by a container of its own, under the name of its model', async () => {
  await deploy('a');
  await deploy('b');
  expect(running).toEqual(['a-served', 'b-served']);
  expect([await invoke('a'), await invoke('b')]).toEqual([{ model: 'a-served' }, { model: 'b-served' }]);
});

test('stops the container without copies, for which invocations find no capacity, and starts it again', async () => {
  await deploy('a');
  await setCopies(plane(), 'a', 0);
  await until('the container stopped', async () => running.length === 0);
  await expect(invoke('a')).rejects.toMatchObject({
    name: 'ValidationError',
    message: expect.stringMatching(/^Inference Component has no capacity to process this request/),
    $metadata: { httpStatusCode: 400 },
  });
  await inService('a');
  await setCopies(plane(), 'a', 1);
  await inService('a');
  expect(await invoke('a')).toEqual({ model: 'a-served' });
});

test('an unknown endpoint, an unknown component and the component of another endpoint are not found', async () => {
  await deploy('a');
  await deploy('b');
  await expect(invoke('c')).rejects.toThrow('Endpoint c of account 000000000000 not found.');
  await expect(invoke('a', 'b')).rejects.toThrow('Inference Component b not found.');
  const withoutComponent = new InvokeEndpointCommand({ EndpointName: 'a', Body: Buffer.from('{}') });
  await expect(runtime.send(withoutComponent)).rejects.toThrow('Inference Component Name header is required');
});

test('endpoints that were set up are described beside those that were created', async () => {
  await deploy('a');
  expect((await endpointOf(plane(), 'static')).EndpointStatus).toBe('InService');
  expect((await componentOf(plane(), 'static-1')).EndpointName).toBe('static');
  expect((await control('GET')).endpoints).toEqual([{ name: 'a', status: 'InService', instances: 1 }]);
});

test('invocations in progress add copies, and their end removes them', async () => {
  await deploy('a');
  const autoScaling = new ApplicationAutoScalingClient(config());
  const target = {
    ServiceNamespace: 'sagemaker',
    ResourceId: 'inference-component/a',
    ScalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
  } as const;
  await autoScaling.send(new RegisterScalableTargetCommand({ ...target, MinCapacity: 1, MaxCapacity: 2 }));
  await autoScaling.send(
    new PutScalingPolicyCommand({
      ...target,
      PolicyName: 'concurrency',
      PolicyType: 'TargetTrackingScaling',
      TargetTrackingScalingPolicyConfiguration: {
        TargetValue: 1,
        PredefinedMetricSpecification: {
          PredefinedMetricType: 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution' as never,
        },
      },
    }),
  );
  autoScaling.destroy();
  const release = Promise.withResolvers<void>();
  held = release.promise;
  const invocations = [invoke('a'), invoke('a')];
  const copies = (count: number) =>
    until(`there are ${count} copies`, async () => (await componentOf(plane(), 'a')).RuntimeConfig?.CurrentCopyCount === count);
  await copies(2);
  release.resolve();
  await Promise.all(invocations);
  await copies(1);
});

test('logs and quotas are served under the same URL', async () => {
  await deploy('a');
  const logs = new CloudWatchLogsClient(config());
  const quotas = new ServiceQuotasClient(config());
  const { events: lines } = await logs.send(new FilterLogEventsCommand({ logGroupName: '/aws/sagemaker/InferenceComponents/a' }));
  expect(lines).not.toEqual([]);
  expect((await quotas.send(new ListServiceQuotasCommand({ ServiceCode: 'sagemaker' }))).Quotas).not.toEqual([]);
  logs.destroy();
  quotas.destroy();
});

test('events are sent without a call that would notice the change', async () => {
  await control('PUT', { times: { ...NO_WAIT, instance_ms: 1 } });
  await createEmptyEndpoint(plane(), 'a');
  await until('the endpoint is in service', async () => events.some(({ detail }) => detail.EndpointStatus === 'IN_SERVICE'));
});

test('a lost reply closes the connection after the call was executed', async () => {
  await deploy('a');
  await control('PUT', { times: NO_WAIT, faults: [{ kind: 'lost_reply', operation: 'DeleteInferenceComponent', times: 1 }] });
  await expect(sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName: 'a' }))).rejects.toBeDefined();
  await until('the component is gone', async () => (await control('GET')).inference_components.length === 0);
});

test('the control route refuses unknown settings, and resets everything', async () => {
  await deploy('a');
  const refused = await fetch(`${emulator.url}/control/deployments`, { method: 'PUT', body: '{"faults":[{"kind":"fire"}]}' });
  expect(refused.status).toBe(400);
  expect((await fetch(`${emulator.url}/control/deployments`, { method: 'POST' })).status).toBe(405);
  expect(await control('DELETE')).toMatchObject({
    models: [],
    endpoint_configs: [],
    endpoints: [],
    inference_components: [],
    log_groups: [],
    scalable_targets: [],
    created: {},
    instance_seconds: {},
    settings: { times: { instance_ms: 2_000 }, faults: [], quotas: {} },
  });
  await until('the container stopped', async () => running.length === 0);
});

test('the variant of a created endpoint answers', async () => {
  await deploy('a');
  const { InvokedProductionVariant } = await runtime.send(
    new InvokeEndpointCommand({ EndpointName: 'a', InferenceComponentName: 'a', Body: Buffer.from('{}') }),
  );
  expect(InvokedProductionVariant).toBe(VARIANT);
});

test('an adapter is loaded into the container of its base, and invocations name it in a header', async () => {
  await deploy('a');
  await sagemaker.send(
    new CreateInferenceComponentCommand({
      InferenceComponentName: 'adapter',
      EndpointName: 'a',
      VariantName: VARIANT,
      Specification: { BaseInferenceComponentName: 'a', Container: { ArtifactUrl: 's3://weights/adapter.tar.gz' } },
    }),
  );
  await inService('adapter');
  expect(await invoke('a', 'adapter')).toEqual({ model: 'a-served', adapter: 'adapter' });
  expect(await invoke('a')).toEqual({ model: 'a-served' });
  expect([running, loads]).toEqual([['a-served'], ['a-served']]);
});
