import {
  CreateEndpointCommand,
  CreateEndpointConfigCommand,
  type CreateEndpointConfigCommandInput,
  CreateInferenceComponentCommand,
  CreateModelCommand,
  DescribeEndpointCommand,
  DescribeInferenceComponentCommand,
  type InferenceComponentSpecification,
  type InstancePool,
  type ProductionVariant,
  UpdateInferenceComponentRuntimeConfigCommand,
} from '@aws-sdk/client-sagemaker';
import type { ControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';

export const ROLE = 'arn:aws:iam::000000000000:role/deployments';
export const VARIANT = 'AllTraffic';

/** One copy on one GPU. */
export const oneGpu = (ModelName: string): InferenceComponentSpecification => ({
  ModelName,
  ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: 1, MinMemoryRequiredInMb: 1_024 },
});

export const scaledVariant = (pools: readonly string[] | string, max = 2, min = 0): ProductionVariant => ({
  VariantName: VARIANT,
  ...(typeof pools === 'string'
    ? { InstanceType: pools as InstancePool['InstanceType'] }
    : {
        InstancePools: pools.map((InstanceType, index) => ({
          InstanceType: InstanceType as InstancePool['InstanceType'],
          Priority: index + 1,
        })),
      }),
  InitialInstanceCount: 1,
  ManagedInstanceScaling: {
    Status: 'ENABLED',
    MinInstanceCount: min,
    MaxInstanceCount: max,
    ScaleInPolicy: { Strategy: 'IDLE_RELEASE' },
  },
});

/** Creates a model, a configuration and an endpoint, all with one name. */
export const createEmptyEndpoint = async (
  { sagemaker }: ControlPlane,
  name: string,
  variant: ProductionVariant = scaledVariant('ml.g5.xlarge'),
  more: Partial<CreateEndpointConfigCommandInput> = {},
): Promise<void> => {
  await sagemaker.send(
    new CreateModelCommand({
      ModelName: name,
      ExecutionRoleArn: ROLE,
      PrimaryContainer: { Image: 'vllm:0.27.0', Environment: { SM_VLLM_SERVED_MODEL_NAME: `${name}-served`, SM_VLLM_ENABLE_LORA: 'true' } },
    }),
  );
  await sagemaker.send(
    new CreateEndpointConfigCommand({ EndpointConfigName: name, ExecutionRoleArn: ROLE, ProductionVariants: [variant], ...more }),
  );
  await sagemaker.send(new CreateEndpointCommand({ EndpointName: name, EndpointConfigName: name }));
};

/** Creates a component on the endpoint of the same name. */
export const createComponent = (
  { sagemaker }: ControlPlane,
  name: string,
  copies = 1,
  specification: InferenceComponentSpecification = oneGpu(name),
) =>
  sagemaker.send(
    new CreateInferenceComponentCommand({
      InferenceComponentName: name,
      EndpointName: name,
      VariantName: VARIANT,
      Specification: specification,
      RuntimeConfig: { CopyCount: copies },
    }),
  );

/** Enough for a new endpoint, or for the copies of a component, with the default times. */
export const ENOUGH_MS = 2_000;

/** Creates an endpoint with one component in service. */
export const deploy = async (plane: ControlPlane, name: string, copies = 1, variant?: ProductionVariant): Promise<void> => {
  await createEmptyEndpoint(plane, name, variant);
  plane.advance(ENOUGH_MS);
  await createComponent(plane, name, copies);
  plane.advance(2 * ENOUGH_MS);
};

export const endpointOf = ({ sagemaker }: ControlPlane, EndpointName: string) =>
  sagemaker.send(new DescribeEndpointCommand({ EndpointName }));
export const componentOf = ({ sagemaker }: ControlPlane, InferenceComponentName: string) =>
  sagemaker.send(new DescribeInferenceComponentCommand({ InferenceComponentName }));
export const setCopies = ({ sagemaker }: ControlPlane, InferenceComponentName: string, CopyCount: number) =>
  sagemaker.send(new UpdateInferenceComponentRuntimeConfigCommand({ InferenceComponentName, DesiredRuntimeConfig: { CopyCount } }));
