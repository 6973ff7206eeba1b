import { createHash } from 'node:crypto';

/** Quotas of instances for endpoints, one for each instance type. */
export interface EndpointQuotas {
  /** The number of instances of a type that all endpoints together may have. */
  limit(instanceType: string): number;
  /** Replaces the quotas that differ from the default. */
  set(limits: Readonly<Record<string, number>>): void;
  /** All types with a quota. */
  instanceTypes(): string[];
}

const DEFAULT_LIMIT = 4;

const sized = (family: string, sizes: readonly string[]): string[] => sizes.map((size) => `ml.${family}.${size}`);
// These GPU types have a quota even if nobody named them.
const KNOWN_TYPES = [
  ...sized('g4dn', ['xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '16xlarge']),
  ...['g5', 'g6', 'g6e'].flatMap((family) =>
    sized(family, ['xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '24xlarge', '48xlarge']),
  ),
  ...sized('p4d', ['24xlarge']),
  ...sized('p5', ['48xlarge']),
];

export const createEndpointQuotas = (): EndpointQuotas => {
  let limits: Readonly<Record<string, number>> = {};
  return {
    limit: (instanceType) => limits[instanceType] ?? DEFAULT_LIMIT,
    set(next) {
      limits = next;
    },
    instanceTypes: () => [...new Set([...KNOWN_TYPES, ...Object.keys(limits)])].sort(),
  };
};

/** The name of the quota of an instance type, as Service Quotas and SageMaker's errors have it. */
export const quotaName = (instanceType: string): string => `${instanceType} for endpoint usage`;

/** A code in the form of Service Quotas; the real codes differ. */
export const quotaCode = (instanceType: string): string =>
  `L-${createHash('sha256').update(quotaName(instanceType)).digest('hex').slice(0, 8).toUpperCase()}`;
