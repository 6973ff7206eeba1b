import { type Deployment, isActive, leastCopies, NO_PROGRESS, type Progress } from '../../../shared/deployments/deployment.ts';
import { trafficOf } from './generations.ts';
import { NOTHING, type Observed } from './observe.ts';

/** The progress of the copies of the generation with the most traffic, or of the oldest one while none has traffic. */
export const progressOf = (deployment: Deployment, observed: Observed): Progress => {
  const [first] = trafficOf(deployment).toSorted((one, other) => other.percent - one.percent);
  const main = first?.generation ?? deployment.generations.find(isActive);
  if (!main) return NO_PROGRESS;
  const { endpoint, component, log } = observed.generations.get(main.number) ?? NOTHING;
  const ready = component?.copies ?? 0;
  const wanted = component?.wantedCopies ?? leastCopies(deployment);
  const missing = Math.max(0, wanted - ready);
  const hasInstances = endpoint !== undefined && endpoint.instances.length > 0;
  const pending = hasInstances ? Math.min(missing, endpoint.missingInstances) : missing;
  const starting = missing - pending;
  const hasStarted = log?.hasStarted ?? false;
  return {
    wanted,
    pending_capacity: pending,
    downloading: hasStarted ? 0 : starting,
    loading: hasStarted ? starting : 0,
    ready,
  };
};
