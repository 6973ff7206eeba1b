import type { InvokeFunction, InvokeLater } from '../../../shared/aws/invoke-function.ts';
import { DeploymentFindings, type DeploymentToValidate } from '../../../shared/deployments/validation.ts';

/** The client of the function `deployments`, which alone has permissions for deployments' resources on AWS. */
export const createDeploymentsFunction = (invoke: InvokeFunction, invokeLater: InvokeLater, functionName: string) => ({
  /** Checks a deployment's weights, and AWS's quotas. @throws 503 */
  validate: async (question: DeploymentToValidate): Promise<DeploymentFindings> =>
    DeploymentFindings.parse(await invoke(functionName, { validate: question })),

  /** Queues a pass over a deployment. @throws 503 if Lambda does not accept the request */
  reconcile: (id: string): Promise<void> => invokeLater(functionName, { reconcile: id }),
});
