import type { InvokeFunction, InvokeLater } from '../../../shared/aws/invoke-function.ts';
import { DeploymentFindings, type DeploymentToValidate } from '../../../shared/deployments/validation.ts';

/**
 * The function `deployments`, as the control plane uses it: it alone has permissions for what deployments have on
 * AWS.
 */
export const createDeploymentsFunction = (invoke: InvokeFunction, invokeLater: InvokeLater, functionName: string) => ({
  /** Looks at a deployment's weights, and at AWS's quotas. @throws 503 */
  validate: async (question: DeploymentToValidate): Promise<DeploymentFindings> =>
    DeploymentFindings.parse(await invoke(functionName, { validate: question })),

  /** Has a deployment looked at soon. @throws 503 if Lambda does not take the request */
  reconcile: (id: string): Promise<void> => invokeLater(functionName, { reconcile: id }),
});
