import type { BenchmarkCurve } from '../../../../shared/deployments/benchmark.ts';
import { isComparable } from '../../../../shared/deployments/benchmark-drift.ts';
import type { BenchmarkStore } from '../../../../shared/deployments/benchmark-store.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { copiesPerInstance } from '../../../../shared/deployments/instances.ts';
import { predictStart } from '../../../../shared/deployments/start-times.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { MAX_DEPLOYMENTS } from '../errors.ts';
import { wantedGeneration } from '../rollout.ts';
import type { AdviceBasis, BasisDependencies } from './advice-basis.ts';
import { basisOn, type Comparison, comparisonOf } from './on-instance-type.ts';

export interface OtherTypeDependencies extends BasisDependencies {
  benchmarks: Pick<BenchmarkStore, 'curves'>;
}

/** A deployment's last days on another instance type. */
export interface OnOtherType {
  instanceType: string;
  /** The benchmark of it, and the one of the type that ran. */
  curve: BenchmarkCurve;
  own: BenchmarkCurve;
  comparison: Comparison;
  read: AdviceBasis;
}

// Each is replayed with all settings.
const MAX_TYPES = 3;

interface Measured {
  curve: BenchmarkCurve;
  deployment: Deployment;
}

// The newest first, of the model that the deployment runs, on any instance type and of any of its organization.
const curvesOf = async (deps: OtherTypeDependencies, { organization }: Deployment, model: string): Promise<Measured[]> => {
  const { deployments } = await deps.deployments.list(organization, { limit: MAX_DEPLOYMENTS });
  const kept = await Promise.all(
    deployments.map(async (deployment) => (await deps.benchmarks.curves(deployment.id)).curves.map((curve) => ({ curve, deployment }))),
  );
  return kept
    .flat()
    .filter(({ curve }) => curve.model === model && curve.result !== null)
    .sort((one, other) => other.curve.ended_at - one.curve.ended_at);
};

// Before the first price of a type, that one counts: without any, its time would be free.
const fromTheBeginning = (prices: readonly InstancePrice[]): InstancePrice[] => {
  const first = Math.min(...prices.map(({ effective_at }) => effective_at));
  return prices.map((price) => (price.effective_at === first ? { ...price, effective_at: 0 } : price));
};

const basisWith = async (
  deps: OtherTypeDependencies,
  read: AdviceBasis,
  { own, measured: { curve, deployment } }: { own: BenchmarkCurve; measured: Measured },
): Promise<OnOtherType[]> => {
  const { instance_type: id, accelerators } = curve;
  const comparison = comparisonOf(own, curve, Math.max(1, (read.inFlight ?? 0) / read.present.minCopies));
  if (!comparison) return [];
  const [type, ofType] = await Promise.all([deps.catalogue.instanceTypes.get(id), deps.startTimes.secondsOf(id)]);
  if (type?.status !== 'available' || type.prices.length === 0) return [];
  const perInstance = copiesPerInstance(type, accelerators);
  if (perInstance === 0) return [];
  const hasRunOnIt = wantedGeneration(deployment).instance_types[0] === id;
  const start = predictStart(hasRunOnIt ? deployment.starts : [], ofType);
  const other = { id, perInstance, prices: fromTheBeginning(type.prices), start };
  return [{ instanceType: id, curve, own, comparison, read: basisOn(read, other, comparison) }];
};

/**
 * Returns a deployment's last days on other instance types, the one that was measured last first: at most three, of
 * which its organization keeps a benchmark of the same model that can be compared with one of the type that ran.
 * Reads the curves of at most 20 deployments.
 */
export const otherTypesFor = async (deps: OtherTypeDependencies, deployment: Deployment, read: AdviceBasis): Promise<OnOtherType[]> => {
  const { model, accelerators, instance_types } = wantedGeneration(deployment);
  const all = await curvesOf(deps, deployment, model);
  const ofOwn = all.filter(({ curve }) => curve.instance_type === instance_types[0] && curve.accelerators === accelerators);
  const pairs = new Map<string, { own: BenchmarkCurve; measured: Measured }>();
  for (const measured of all) {
    const { instance_type: id } = measured.curve;
    const own = ofOwn.find(({ curve }) => isComparable(curve, measured.curve))?.curve;
    if (own && id !== instance_types[0] && !pairs.has(id)) pairs.set(id, { own, measured });
  }
  const found = await Promise.all([...pairs.values()].map((pair) => basisWith(deps, read, pair)));
  return found.flat().slice(0, MAX_TYPES);
};
