import type { Deployment } from '../deployments/deployment-state.ts';

/** Why a deployment failed or makes no progress, what to do, and what AWS said. */
export const ReasonText = ({ reason: { message, action, aws } }: { reason: NonNullable<Deployment['reason']> }) => (
  <>
    <p>{message}</p>
    <p>{action}</p>
    {aws && <p>AWS: {aws}</p>}
  </>
);
