import * as z from 'zod';
import { Name } from './names.ts';

// Fields of requests that change nothing here are kept as they came.
const TagList = z.array(z.object({ Key: z.string().min(1).max(128), Value: z.string().max(256) })).max(50);

const MAX_ENVIRONMENT_BYTES = 32_768;
const EnvironmentText = z.string().max(1_024);
const Environment = z
  .record(EnvironmentText, EnvironmentText)
  .refine((environment) => JSON.stringify(environment).length <= MAX_ENVIRONMENT_BYTES, 'The environment must have at most 32 KB.');

export const CreateModel = z.looseObject({
  ModelName: Name,
  PrimaryContainer: z.looseObject({ Image: z.string().max(255).optional(), Environment: Environment.default({}) }).optional(),
  ExecutionRoleArn: z.string().min(20).max(2_048).optional(),
  Tags: TagList.default([]),
});

const InstanceType = z.string();
const InstancePool = z.looseObject({ InstanceType, Priority: z.int().min(1).max(5) });
export type InstancePool = z.infer<typeof InstancePool>;

const Variant = z.looseObject({
  VariantName: Name,
  ModelName: Name.optional(),
  InstanceType: InstanceType.optional(),
  InstancePools: z.array(InstancePool).min(1).max(5).optional(),
  InitialInstanceCount: z.int().min(1),
  ManagedInstanceScaling: z
    .looseObject({
      Status: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
      MinInstanceCount: z.int().min(0).default(1),
      MaxInstanceCount: z.int().min(1).default(1),
      ScaleInPolicy: z.looseObject({ Strategy: z.enum(['IDLE_RELEASE', 'CONSOLIDATION']) }).optional(),
    })
    .optional(),
  VariantInstanceProvisionTimeoutInSeconds: z.int().min(300).max(3_600).optional(),
  RoutingConfig: z.looseObject({ RoutingStrategy: z.enum(['LEAST_OUTSTANDING_REQUESTS', 'PREFIX_AWARE', 'RANDOM']) }).optional(),
});
export type VariantSettings = z.infer<typeof Variant>;

export const CreateEndpointConfig = z.looseObject({
  EndpointConfigName: Name,
  ExecutionRoleArn: z.string().min(20).max(2_048).optional(),
  ProductionVariants: z.array(Variant).min(1).max(10),
  MetricsConfig: z.looseObject({ EnableDetailedObservability: z.boolean().optional() }).optional(),
  Tags: TagList.default([]),
});

export const CreateEndpoint = z.object({ EndpointName: Name, EndpointConfigName: Name, Tags: TagList.default([]) });
export const UpdateEndpoint = z.object({
  EndpointName: Name,
  EndpointConfigName: Name,
  RetainAllVariantProperties: z.boolean().default(false),
});

const Specification = z.looseObject({
  InstanceType: InstanceType.optional(),
  ModelName: Name.optional(),
  Container: z
    .looseObject({ Image: z.string().optional(), ArtifactUrl: z.string().optional(), Environment: Environment.optional() })
    .optional(),
  ComputeResourceRequirements: z
    .looseObject({
      NumberOfAcceleratorDevicesRequired: z.number().min(1).optional(),
      NumberOfCpuCoresRequired: z.number().min(0.25).optional(),
      MinMemoryRequiredInMb: z.int().min(128),
      MaxMemoryRequiredInMb: z.int().min(128).optional(),
    })
    .optional(),
  BaseInferenceComponentName: Name.optional(),
});
export type Specification = z.infer<typeof Specification>;

const Specifications = { Specification: Specification.optional(), Specifications: z.array(Specification).min(1).max(5).optional() };
const CopyCount = z.int().min(0);

export const CreateInferenceComponent = z.object({
  InferenceComponentName: Name,
  EndpointName: Name,
  VariantName: Name.optional(),
  ...Specifications,
  RuntimeConfig: z.object({ CopyCount }).optional(),
  Tags: TagList.default([]),
});
export const UpdateInferenceComponent = z.object({
  InferenceComponentName: Name,
  ...Specifications,
  RuntimeConfig: z.object({ CopyCount }).optional(),
  DeploymentConfig: z.unknown().optional(),
});
export const UpdateRuntimeConfig = z.object({ InferenceComponentName: Name, DesiredRuntimeConfig: z.object({ CopyCount }) });

export const AddTags = z.object({ ResourceArn: z.string(), Tags: TagList });
