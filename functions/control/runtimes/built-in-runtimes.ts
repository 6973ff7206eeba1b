import type { Runtime } from '../../../shared/deployments/catalogue.ts';

// The host's driver that containers with CUDA 13 need.
const CUDA_13_AMI = 'al2023-ami-sagemaker-inference-gpu-4-1';

const vllm = (release: string, tag: string): Runtime => ({
  id: `vllm-${release}`,
  description: `vLLM ${release} in AWS's image for SageMaker, with CUDA 13.`,
  image: `vllm:${tag}`,
  ami: CUDA_13_AMI,
  dialect: 'vllm',
  status: 'available',
  version: 0,
});

/**
 * The runtimes of a new installation. Exact tags of AWS's Deep Learning Containers, with the release of vLLM in each:
 * https://github.com/aws/deep-learning-containers
 */
export const BUILT_IN_RUNTIMES: readonly Runtime[] = [
  vllm('0.27.0', 'server-sagemaker-cuda-v2.3'),
  vllm('0.27.1', 'server-sagemaker-cuda-v2.4'),
  vllm('0.30.0', 'server-sagemaker-cuda-v2.5'),
];
