/** The time of one instance: from when it could hold copies until it was released. */
export interface InstanceInterval {
  endpoint: string;
  instance_type: string;
  instance: string;
  /** In milliseconds since the epoch. */
  from: number;
  /** null: it still runs. */
  to: number | null;
}

/** Records when instances ran, as a truth to compare a metering with. */
export interface InstanceTime {
  start(endpoint: string, instanceType: string, instance: string, at: number): void;
  end(instance: string, at: number): void;
  intervals(): readonly InstanceInterval[];
  /** Milliseconds by instance type, of running instances until `at`. */
  totals(at: number): Record<string, number>;
  clear(): void;
}

export const createInstanceTime = (): InstanceTime => {
  let intervals: InstanceInterval[] = [];
  return {
    start(endpoint, instanceType, instance, at) {
      intervals.push({ endpoint, instance_type: instanceType, instance, from: at, to: null });
    },
    end(instance, at) {
      const interval = intervals.findLast((other) => other.instance === instance && other.to === null);
      if (interval) interval.to = at;
    },
    intervals: () => intervals.map((interval) => ({ ...interval })),
    totals(at) {
      const totals: Record<string, number> = {};
      for (const { instance_type: type, from, to } of intervals) totals[type] = (totals[type] ?? 0) + (to ?? at) - from;
      return totals;
    },
    clear() {
      intervals = [];
    },
  };
};
