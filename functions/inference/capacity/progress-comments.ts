import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type PredictedStart, wakeOf } from '../../../shared/deployments/start-times.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import { kindOf } from './errors.ts';

// Unchanged progress is repeated after this time, so that no proxy closes the connection.
const REPEAT_MS = 15_000;

const changing = ({ state, progress }: Deployment): string => JSON.stringify([state, progress]);

/**
 * The progress of a deployment as comments of a stream, which readers of server-sent events skip.
 * @param name the name for callers of the host; on the serverless host they don't know the owner's name for it
 */
export const createProgressComments = (host: Host, name: string, now: () => number) => {
  let last: { of: string; atMs: number } | undefined;
  return {
    /** True if the progress is new to the caller, or nothing was sent for a while. */
    isDue: (deployment: Deployment): boolean => last?.of !== changing(deployment) || now() - last.atMs >= REPEAT_MS,
    write: (deployment: Deployment, start: PredictedStart): string => {
      last = { of: changing(deployment), atMs: now() };
      const { state, progress } = deployment;
      return `: ${JSON.stringify({ [kindOf(host)]: name, state, progress, wake: wakeOf(start) })}\n\n`;
    },
  };
};
