/** Six hours of values for five minutes each. */
export const POINTS = 72;

// The noise is from -1 to 1.
type Shape = (point: number, noise: number) => number;

// An endpoint fails for a quarter of an hour, so that the graphs show what a fault looks like.
const INCIDENT = { first: 46, points: 3 };
const WAVE = 96;

const wave = (point: number): number => Math.sin((2 * Math.PI * point) / WAVE);
const isIncident = (point: number): boolean => point >= INCIDENT.first && point < INCIDENT.first + INCIDENT.points;

const around =
  (value: number, swing = 0.25, noisy = 0.08): Shape =>
  (point, noise) =>
    value * (1 + swing * wave(point) + noisy * noise);
const during =
  (value: number, otherwise: Shape = () => 0): Shape =>
  (point, noise) =>
    isIncident(point) ? value * (1 + 0.15 * noise) : otherwise(point, noise);
const never: Shape = () => 0;
const once =
  (at: number): Shape =>
  (point) =>
    point === at ? 1 : 0;
const sawtooth =
  (value: number, period: number): Shape =>
  (point) =>
    (value * (point % period)) / (period - 1);
const steps =
  (...values: number[]): Shape =>
  (point) =>
    values[Math.floor((point * values.length) / POINTS)] ?? 0;

const HOST_AND_TITLE = /^(?:(Serverless|On-demand|Control plane): )?(.*)$/;
const FUNCTIONS = [
  ...['inference', 'ondemand-inference', 'metering', 'rollup', 'refusals', 'payloads', 'tokenizer', 'deployments'],
  ...['control', 'sign-in', 'machine-sign-in', 'single-sign-on', 'console', 'billing', 'notifications', 'support'],
];

type Samples = Readonly<Record<string, Readonly<Record<string, Shape>>>>;

const INFERENCE: Samples = {
  requests: { All: around(1_400), '4XX': around(24, 0.3, 0.4), '5XX': during(180) },
  failures: { 'Refused or broken off': during(180), Crashed: once(20), 'Could not start': never },
  'misses of the objectives (%)': { 'Not answered': during(12), 'First token late': during(6, around(0.3, 0.2, 0.5)) },
  'duration of responses (ms)': { p50: around(1_300), p90: around(4_200), p99: during(14_000, around(8_500)) },
  'time to first token (ms)': { p50: around(420), p90: around(1_100), p99: during(6_200, around(2_300, 0.3, 0.15)) },
  tokens: { Prompt: around(820_000), Completion: around(310_000), 'Cached prompt (%)': around(46, 0.1, 0.05) },
  'cost of a thousand requests ($)': { 'Charged to callers': around(0.085, 0.1, 0.05) },
  limiters: {
    'Round trips, average': around(1.1, 0.02, 0.02),
    'Round trips, p99': around(2, 0.1, 0.1),
    'Rejected by limits (429)': around(9, 0.4, 0.6),
  },
};

const executionsOf = (...functions: [string, number][]): Samples => ({
  executions: Object.fromEntries(functions.map(([name, value]) => [name, around(value)])),
  'function errors': Object.fromEntries(functions.map(([name], i) => [name, i === 0 ? once(20) : never])),
});

// By the host of a graph, its title and its series. Graphs of no host have the empty one.
const SAMPLES: Readonly<Record<string, Samples>> = {
  Serverless: {
    ...INFERENCE,
    ...executionsOf(['inference', 38], ['catalog', 3]),
  },
  'On-demand': {
    ...INFERENCE,
    ...executionsOf(['ondemand-inference', 14], ['ondemand-catalog', 1.5]),
  },
  'Control plane': {
    requests: { All: around(110), '4XX': around(6, 0.3, 0.5), '5XX': never },
    'duration of responses (ms)': { p50: around(45), p90: around(130), p99: around(410, 0.2, 0.2) },
    ...executionsOf(
      ['control', 4],
      ['sign-in', 1.2],
      ['machine-sign-in', 0.8],
      ['single-sign-on', 0.3],
      ['console', 0.1],
      ['billing', 1],
      ['notifications', 1.5],
      ['support', 0.6],
    ),
  },
  '': {
    'Deployments by state': {
      pending: never,
      creating: steps(0, 1, 1, 0, 0, 0, 0, 0),
      in_service: steps(6, 6, 7, 8, 8, 7, 7, 7),
      updating: never,
      draining: steps(0, 0, 0, 0, 0, 1, 0, 0),
      scaled_to_zero: steps(5, 5, 4, 4, 5, 5, 5, 6),
      waking: steps(0, 1, 1, 0, 0, 0, 1, 0),
      stopping: never,
      stopped: steps(2, 2, 2, 2, 2, 2, 3, 3),
      deleting: never,
      failed: steps(0, 0, 0, 0, 0, 0, 1, 1),
    },
    Reconciler: { 'Passes that threw': once(12), 'Failed deployments': once(54), 'GPU time not charged': never },
    Logins: { Refused: around(3, 0.4, 0.8) },
    Billing: { TotalsDiffering: never, BillingTaskFailed: once(26) },
    'Tickets by status': {
      open: steps(2, 3, 3, 2, 4, 3),
      waiting_on_support: steps(3, 3, 4, 4, 3, 2),
      waiting_on_customer: steps(5, 5, 6, 6, 7, 7),
      resolved: steps(8, 8, 8, 9, 9, 10),
    },
    'Tickets that are late': { 'First response': steps(0, 0, 1, 1, 0, 0), Resolution: never },
    'How far the sweep is behind (ms)': { Behind: sawtooth(240_000, 6) },
    'Streams: age of the oldest record (s)': { Totals: around(2.4, 0.1, 0.3), Notifications: around(1.2, 0.1, 0.3) },
    Metering: { Orphaned: once(20), SettlementFailed: never, UnhandledError: never, ChargeInexact: never },
    'Other functions': { metering: never, rollup: once(30), refusals: never, payloads: never, tokenizer: never, deployments: never },
    'Given up, without an alarm': { Totals: never, Refusals: steps(0, 0, 0, 1), Notifications: never },
    'Functions that could not start': Object.fromEntries(FUNCTIONS.map((name, i) => [name, i === 0 ? during(9) : never])),
  },
};

// A generator with a period far above what a picture needs; the same on every machine.
const noiseOf = (seed: string): (() => number) => {
  let state = [...seed].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 2_147_483_647, 7);
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (2 * state) / 2_147_483_647 - 1;
  };
};

/** Values that a series of a graph could have, the same in every run. @throws Error if there are none for it */
export const sampleValues = (graph: string, series: string): number[] => {
  const [, host = '', title = ''] = HOST_AND_TITLE.exec(graph) ?? [];
  const shape = SAMPLES[host]?.[title]?.[series];
  if (!shape) throw new Error(`Add sample values of '${series}' in '${graph}' to sample-data.ts.`);
  const noise = noiseOf(`${graph} ${series}`);
  return Array.from({ length: POINTS }, (_, point) => Math.max(0, shape(point, noise())));
};
