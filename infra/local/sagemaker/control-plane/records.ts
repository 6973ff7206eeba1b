import type { InstancePool, Specification, VariantSettings } from './requests/inputs.ts';

export type Tags = Map<string, string>;

/** The fields of every resource. */
export interface Resource {
  name: string;
  arn: string;
  tags: Tags;
  createdAt: number;
  modifiedAt: number;
  /** The order of creation, never used twice. */
  sequence: number;
}

export interface Model extends Resource {
  /** The part of the request that DescribeModel returns. */
  definition: Readonly<Record<string, unknown>>;
  image: string | undefined;
  environment: Readonly<Record<string, string>>;
}

export interface EndpointConfig extends Resource {
  definition: Readonly<Record<string, unknown>>;
  variants: VariantSettings[];
}

export type EndpointStatus = 'Creating' | 'Updating' | 'InService' | 'Deleting' | 'Failed';

export interface Instance {
  id: string;
  type: string;
  state: 'provisioning' | 'ready';
  /** Since when it has no copy; undefined: it has one. */
  idleSince: number | undefined;
}

export interface Variant {
  name: string;
  settings: VariantSettings;
  /** By priority. */
  pools: InstancePool[];
  instances: Instance[];
}

export interface Endpoint extends Resource {
  configName: string;
  status: EndpointStatus;
  failureReason: string | undefined;
  variants: Variant[];
}

export type ComponentStatus = 'Creating' | 'Updating' | 'InService' | 'Deleting' | 'Failed';

/**
 * A copy of a component on an instance. A `loading` copy has a running container; only a `ready` one receives
 * invocations.
 */
export interface Copy {
  id: string;
  revision: number;
  instanceId: string;
  instanceType: string;
  /** The environment variables of its container. */
  environment: Readonly<Record<string, string>>;
  phase: 'downloading' | 'loading' | 'ready' | 'removing';
}

export interface Component extends Resource {
  endpointName: string;
  variantName: string;
  status: ComponentStatus;
  failureReason: string | undefined;
  /** One, or one an instance type. An adapter has one with a base component. */
  specifications: Specification[];
  /** Counts the changes of the specifications. */
  revision: number;
  /** While a change of the specifications rolls out: those before it. */
  previous: { specifications: Specification[]; revision: number } | undefined;
  desiredCopies: number;
  copies: Copy[];
  /** Only adapters: true once their artifacts are loaded. */
  isAdapterReady: boolean;
  deploymentConfig: unknown;
  /** True if the request had `Specifications`. */
  hasSeveralSpecifications: boolean;
}

/** The component that an adapter shares copies with; undefined: this is no adapter. */
export const baseNameOf = ({ specifications }: Component): string | undefined => specifications[0]?.BaseInferenceComponentName;

export const readyCopies = ({ copies }: Component): Copy[] => copies.filter(({ phase }) => phase === 'ready');
