import type { Model } from '../../../shared/models/model.ts';
import { type CheckDependencies, checkTargets } from './check-targets.ts';
import type { RegistrationReport } from './registration-report.ts';

/** API Gateway waits 29 s for a reply: of all checks, and of one question to a container. */
const TOTAL_TIMEOUT_MS = 25_000;
const PROBE_TIMEOUT_MS = 10_000;

/** Whether a model could be served, within 25 s. @throws SageMakerUnavailable (503), when its targets cannot be looked up */
export type CheckModel = (model: Model) => Promise<RegistrationReport>;

export const createModelCheck =
  (deps: Omit<CheckDependencies, 'probeTimeoutMs' | 'totalTimeoutMs'>): CheckModel =>
  (model) =>
    checkTargets({ ...deps, probeTimeoutMs: PROBE_TIMEOUT_MS, totalTimeoutMs: TOTAL_TIMEOUT_MS }, model);
