import {
  DeleteEndpointCommand,
  DeleteEndpointConfigCommand,
  DeleteInferenceComponentCommand,
  DeleteModelCommand,
} from '@aws-sdk/client-sagemaker';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PHASE_FAULTS } from '../../../../../infra/local/sagemaker/control-plane/settings.ts';
import { type ControlPlane, createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import { createComponent, createEmptyEndpoint, endpointOf, scaledVariant, setCopies } from '../deployment.ts';

const RUNS = 300;
const MAX_INSTANCES = 3;
const name = fc.constantFrom('a', 'b');
const step = fc.oneof(
  fc.record({ kind: fc.constant('create'), name }),
  fc.record({ kind: fc.constant('component'), name, copies: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('copies'), name, copies: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ kind: fc.constant('delete component'), name }),
  fc.record({ kind: fc.constant('delete endpoint'), name }),
  fc.record({ kind: fc.constant('fault'), fault: fc.constantFrom(...PHASE_FAULTS) }),
  fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 0, max: 7_000 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const perform = async (plane: ControlPlane, next: Step): Promise<unknown> => {
  if ('ms' in next) return plane.advance(next.ms);
  if ('fault' in next) return plane.account.configure({ faults: [{ kind: next.fault, times: 1 }] });
  if (next.kind === 'create') return createEmptyEndpoint(plane, next.name, scaledVariant('ml.g5.xlarge', MAX_INSTANCES));
  if ('copies' in next)
    return next.kind === 'copies' ? setCopies(plane, next.name, next.copies) : createComponent(plane, next.name, next.copies);
  if (next.kind === 'delete component')
    return plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName: next.name }));
  return plane.sagemaker.send(new DeleteEndpointCommand({ EndpointName: next.name }));
};

// A refusal of SageMaker is no failure.
const refused = (error: Error): void => expect(['ValidationException', 'ResourceLimitExceeded']).toContain(error.name);

const deleteAll = async ({ sagemaker, account, advance }: ControlPlane): Promise<void> => {
  advance(120_000);
  const { inference_components: components, endpoints, endpoint_configs: configs, models } = account.proof();
  for (const { name: InferenceComponentName } of components)
    await sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName }));
  advance(1_000);
  for (const { name: EndpointName } of endpoints) await sagemaker.send(new DeleteEndpointCommand({ EndpointName }));
  for (const EndpointConfigName of configs) await sagemaker.send(new DeleteEndpointConfigCommand({ EndpointConfigName }));
  for (const ModelName of models) await sagemaker.send(new DeleteModelCommand({ ModelName }));
  advance(1_000);
};

test('keeps instances within bounds, their time as callers see it, and all deletable, whatever is called', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const plane = createControlPlane();
      for (const next of steps) {
        await perform(plane, next).catch(refused);
        const running = plane.account.proof().instances.filter(({ to }) => to === null);
        for (const endpoint of plane.account.proof().endpoints) {
          const [variant] = (await endpointOf(plane, endpoint.name)).ProductionVariants ?? [];
          expect(variant?.CurrentInstanceCount).toBe(running.filter((interval) => interval.endpoint === endpoint.name).length);
          expect(variant?.DesiredInstanceCount).toBeLessThanOrEqual(MAX_INSTANCES);
        }
      }
      await deleteAll(plane);
      expect(plane.account.proof()).toMatchObject({ models: [], endpoint_configs: [], endpoints: [], inference_components: [] });
      expect(plane.account.proof().instances.filter(({ to }) => to === null)).toEqual([]);
      expect(plane.account.serving()).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
