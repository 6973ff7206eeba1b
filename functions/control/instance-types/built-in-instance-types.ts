import type { InstanceType } from '../../../shared/deployments/catalogue.ts';

const family = (
  accelerator: string,
  accelerator_memory_gib: number,
  sizes: readonly (readonly [id: string, accelerators: number, memoryGib: number])[],
): InstanceType[] =>
  sizes.map(([id, accelerators, memory_gib]) => ({
    id,
    accelerator,
    accelerators,
    accelerator_memory_gib,
    memory_gib,
    prices: [],
    status: 'available',
    version: 0,
  }));

/**
 * The instance types of a new installation, without prices:
 * https://aws.amazon.com/ec2/instance-types/accelerated-computing/
 */
export const BUILT_IN_INSTANCE_TYPES: readonly InstanceType[] = [
  ...family('NVIDIA A10G', 24, [
    ['ml.g5.xlarge', 1, 16],
    ['ml.g5.2xlarge', 1, 32],
    ['ml.g5.4xlarge', 1, 64],
    ['ml.g5.8xlarge', 1, 128],
    ['ml.g5.16xlarge', 1, 256],
    ['ml.g5.12xlarge', 4, 192],
    ['ml.g5.24xlarge', 4, 384],
    ['ml.g5.48xlarge', 8, 768],
  ]),
  ...family('NVIDIA L4', 24, [
    ['ml.g6.xlarge', 1, 16],
    ['ml.g6.2xlarge', 1, 32],
    ['ml.g6.4xlarge', 1, 64],
    ['ml.g6.8xlarge', 1, 128],
    ['ml.g6.16xlarge', 1, 256],
    ['ml.g6.12xlarge', 4, 192],
    ['ml.g6.24xlarge', 4, 384],
    ['ml.g6.48xlarge', 8, 768],
  ]),
  ...family('NVIDIA L40S', 48, [
    ['ml.g6e.xlarge', 1, 32],
    ['ml.g6e.2xlarge', 1, 64],
    ['ml.g6e.4xlarge', 1, 128],
    ['ml.g6e.8xlarge', 1, 256],
    ['ml.g6e.16xlarge', 1, 512],
    ['ml.g6e.12xlarge', 4, 384],
    ['ml.g6e.24xlarge', 4, 768],
    ['ml.g6e.48xlarge', 8, 1_536],
  ]),
  ...family('NVIDIA A100', 40, [['ml.p4d.24xlarge', 8, 1_152]]),
  ...family('NVIDIA A100', 80, [['ml.p4de.24xlarge', 8, 1_152]]),
  ...family('NVIDIA H100', 80, [
    ['ml.p5.4xlarge', 1, 256],
    ['ml.p5.48xlarge', 8, 2_048],
  ]),
  ...family('NVIDIA H200', 141, [
    ['ml.p5e.48xlarge', 8, 2_048],
    ['ml.p5en.48xlarge', 8, 2_048],
  ]),
];
