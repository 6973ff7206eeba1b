import * as z from 'zod';

/** The facts that the function `deployments` checks on AWS before a deployment is made. It changes nothing. */
export const DeploymentToValidate = z.object({
  organization: z.string(),
  /** `s3://bucket/prefix/` or the id of a model on the Hugging Face Hub, which is not looked up. */
  model: z.string(),
  allows_code: z.boolean(),
  instance_types: z.array(z.string()).min(1).max(5),
});
export type DeploymentToValidate = z.infer<typeof DeploymentToValidate>;

/** The results of the checks. */
export const DeploymentFindings = z.object({
  /** The weights exist, and contain no code unless that is allowed. `message` says what is wrong and what to do. */
  weights: z.object({ passed: z.boolean(), message: z.string() }),
  /** AWS's quota of instances for endpoints in this account, for each instance type of which it is known. */
  quotas: z.array(z.object({ instance_type: z.string(), limit: z.int().min(0), used: z.int().min(0) })),
});
export type DeploymentFindings = z.infer<typeof DeploymentFindings>;
