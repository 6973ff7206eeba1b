import type { Resources } from '../../../../infra/tools/cost/resources.ts';

/** A deployment with nothing that is billed at rest. */
export const NO_RESOURCES: Resources = {
  alarmMetrics: { ofOperations: 0, ofReleases: 0 },
  dashboards: 0,
  metrics: { atRest: 0, ofRequests: 0 },
  measuredRoutes: 0,
  schedules: [],
  polledQueues: { standard: 0, fifo: 0 },
  recoverableTables: 1,
  warmUnits: { writes: 0, reads: 0 },
  keys: 0,
  firewalls: 0,
  firewallRules: 0,
  distributions: 0,
  secrets: 0,
  provisioned: [],
  memoryMb: { inference: 256, rollup: 1_769, billing: 1_769, deployments: 512 },
  tracedThousandths: 50,
  logRetentionDays: 30,
};

/** One of each thing that is billed. */
export const EVERY_RESOURCE: Resources = {
  ...NO_RESOURCES,
  alarmMetrics: { ofOperations: 1, ofReleases: 1 },
  dashboards: 1,
  metrics: { atRest: 1, ofRequests: 1 },
  measuredRoutes: 1,
  schedules: [{ function: 'metering', memoryMb: 256, seconds: 300 }],
  polledQueues: { standard: 1, fifo: 1 },
  warmUnits: { writes: 1, reads: 1 },
  keys: 1,
  firewalls: 1,
  firewallRules: 1,
  distributions: 1,
  secrets: 1,
  provisioned: [{ memoryMb: 256, executions: 1 }],
};
