import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type PredictedStart, wakeOf } from '../../../shared/deployments/start-times.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import { kindOf } from './errors.ts';

/** Without a change, the progress is repeated after this time, so that no proxy closes the connection. */
const REPEAT_MS = 15_000;

const changing = ({ state, progress }: Deployment): string => JSON.stringify([state, progress]);

/**
 * The progress of a deployment as comments of a stream, which readers of server-sent events skip.
 * @param name what callers of the host call it: on the serverless host, they don't know its owner's name for it
 */
export const createProgressComments = (host: Host, name: string, now: () => number) => {
  let last: { of: string; atMs: number } | undefined;
  return {
    /** Whether the caller does not know this yet, or has not heard anything for a while. */
    isDue: (deployment: Deployment): boolean => last?.of !== changing(deployment) || now() - last.atMs >= REPEAT_MS,
    write: (deployment: Deployment, start: PredictedStart): string => {
      last = { of: changing(deployment), atMs: now() };
      const { state, progress } = deployment;
      return `: ${JSON.stringify({ [kindOf(host)]: name, state, progress, wake: wakeOf(start) })}\n\n`;
    },
  };
};
