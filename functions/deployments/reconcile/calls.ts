import type { ScalingTarget } from '../aws/scaling.ts';

/**
 * A change on AWS. Each can be repeated: after a lost reply, it changes nothing, or AWS rejects it because its effect
 * exists. The calls for archives are of no generation: 0.
 */
export type SageMakerCall = { generation: number } & (
  | { kind: 'create_model' | 'create_config' | 'create_endpoint' | 'create_component' }
  | { kind: 'set_copies'; copies: number }
  | { kind: 'register_scaling'; target: ScalingTarget }
  | { kind: 'put_policy'; requestsPerCopy: number }
  | { kind: 'deregister_scaling' | 'delete_component' | 'delete_endpoint' | 'delete_config' | 'delete_model' }
  | { kind: 'create_adapter'; adapter: string }
  | { kind: 'delete_adapter'; component: string }
  | { kind: 'delete_archive'; key: string }
);

/** The calls that create a generation's parts: if one is rejected, the generation has failed. */
export const CREATIONS: ReadonlySet<SageMakerCall['kind']> = new Set([
  'create_model',
  'create_config',
  'create_endpoint',
  'create_component',
]);
