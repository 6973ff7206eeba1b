import { shareInSuite } from '../../support/clients/suite-run.ts';
import { startWalk } from '../../support/clients/walk-through.ts';

// Each phase of a request takes a few of the milliseconds in which it is measured.
const TOKEN_DELAY_MS = '5';

const start = async () => {
  const delays = ['--queue-delay-ms', '1000', '--batch-window-ms', '300', '--schedule-ms', '3000', '--token-delay-ms', TOKEN_DELAY_MS];
  const walk = await startWalk(...delays);
  let offset_seconds = 0;
  return {
    ...walk,
    /** Sets how long each transition of a deployment takes. */
    setTimes: async (times: object): Promise<void> => {
      await fetch(`${walk.run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times }) });
    },
    /** Moves the clock of the functions, which takes the place of long waits. It never goes back. */
    skip: async (seconds: number): Promise<void> => {
      offset_seconds += seconds;
      await walk.run.controlFunctions('clock', { offset_seconds });
    },
  };
};

export type DeploymentsWalk = Awaited<ReturnType<typeof start>>;

/** A local run in which a reader follows the pages about deployments, one after another. */
export const deploymentsWalk = shareInSuite(start, (walk) => walk.close());
