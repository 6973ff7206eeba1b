import type { CfnRole, IRole } from 'aws-cdk-lib/aws-iam';

/** The metadata of a role's resource in which its template says why tests never need some actions. */
export const UNEXERCISED = 'sluice:unexercised';

interface Unexercised {
  /** `sqs:ReceiveMessage`; `*` for all. */
  actions: readonly string[];
  /** As in the policy. Default: all resources that the role may use the actions on. */
  resource?: string;
}

/**
 * Says why a role needs actions that no test performs. Without a reason, an action that no test performs fails `npm
 * test`.
 */
export const acknowledgeUnexercised = (role: IRole | undefined, { actions, resource }: Unexercised, reason: string): void => {
  if (!role) throw new Error('The grantee has no role of its own.');
  const resourceOfRole = role.node.defaultChild as CfnRole;
  const others = (resourceOfRole.getMetadata(UNEXERCISED) ?? []) as object[];
  resourceOfRole.addMetadata(UNEXERCISED, [...others, { actions, ...(resource !== undefined && { resource }), reason }]);
};
