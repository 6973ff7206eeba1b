import * as z from 'zod';

/** Why a deployment failed, or can't do what its owner wants. `aws` is AWS's message, without ids, ARNs and links. */
export const DeploymentReason = z.object({
  /** Such as `insufficient_capacity`: see `functions/deployments/reasons.ts`. */
  code: z.string(),
  message: z.string(),
  action: z.string(),
  aws: z.string().optional(),
});
export type DeploymentReason = z.infer<typeof DeploymentReason>;
