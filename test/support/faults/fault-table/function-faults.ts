import { HOUR_MS } from '../../../../shared/time/units.ts';
import { READERS } from './inventory-faults.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

const INFERENCE_FUNCTIONS = ['inference', 'ondemand-inference'] as const;
const PARTS = 3;
// A function stops itself 20 s before its timeout, so this leaves it 3 s.
const REMAINING_MS = 23_000;
const KILLED_AFTER_MS = 3_000;
// Longer than the functions wait for the model.
const FIRST_TOKEN_DELAY_MS = 30_000;
const TEN_MINUTES_MS = 10 * 60_000;

const silence = { cuts: 'whole', fault: { kind: 'silence', after_parts: PARTS } };

const ofInference = (timeouts: object): object => Object.fromEntries(INFERENCE_FUNCTIONS.map((name) => [name, timeouts]));

// AWS closes idle connections of frozen functions.
const freezeAndThaw = async ({ run, proxy }: FaultyRun): Promise<void> => {
  const pids = Object.values((await run.facts()).pids.functions).flat();
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  try {
    proxy.closeIdleConnections();
    await run.closeIdleConnections();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
};

const clockApart = (name: string, clockOffsetMs: number): TableFault => ({
  name: `The functions' clock is ${name}`,
  metered: 'succeeds',
  hosts: 'all',
  clockOffsetMs,
  staleFunctions: READERS,
  begin: async ({ proxy }) => {
    proxy.checksTime = true;
  },
});

const kill = async ({ run }: FaultyRun): Promise<void> => {
  const { functions } = (await run.facts()).pids;
  for (const pid of INFERENCE_FUNCTIONS.flatMap((name) => functions[name] ?? [])) process.kill(pid, 'SIGKILL');
};

/** Faults of the functions and of their time. */
export const FUNCTION_FAULTS: readonly TableFault[] = [
  {
    name: "The model server is silent until the function's time ends",
    metered: 'fails',
    begin: async ({ run }) => {
      await run.controlFunctions('timeouts', ofInference({ remaining_ms: REMAINING_MS }));
      await run.control('container', { first_token_delay_ms: FIRST_TOKEN_DELAY_MS });
    },
  },
  {
    name: "SageMaker is silent in the stream until the function's time ends",
    metered: 'succeeds',
    begin: async ({ run }) => {
      await run.controlFunctions('timeouts', ofInference({ remaining_ms: REMAINING_MS }));
      await run.control('sagemaker', silence);
    },
  },
  {
    name: 'The function runs out of memory during the answer',
    metered: 'fails',
    spares: ['pooling'],
    isSwept: true,
    begin: ({ run }) => run.control('sagemaker', silence),
    during: async (faulty, untilHeld) => {
      await untilHeld();
      await kill(faulty);
    },
  },
  {
    name: 'The function runs out of time during the answer',
    metered: 'fails',
    spares: ['pooling'],
    isSwept: true,
    begin: async ({ run }) => {
      await run.controlFunctions('timeouts', ofInference({ timeout_ms: KILLED_AFTER_MS }));
      await run.control('sagemaker', silence);
    },
  },
  {
    name: 'The functions were frozen for an hour',
    hosts: 'all',
    metered: 'succeeds',
    clockOffsetMs: HOUR_MS,
    staleFunctions: READERS,
    begin: freezeAndThaw,
  },
  clockApart('ten minutes ahead', TEN_MINUTES_MS),
  clockApart('ten minutes behind', -TEN_MINUTES_MS),
];
