import type { TestRun } from '../../clients/local-run.ts';
import { eventually } from '../../eventually.ts';

// A function answers them without a key and without another service.
const PROBES: Readonly<Record<string, (run: TestRun) => readonly [method: string, url: string]>> = {
  inference: ({ base_url }) => ['POST', `${base_url}/tokenize`],
  catalog: ({ base_url }) => ['GET', `${base_url}/version`],
  'ondemand-inference': ({ ondemand_url }) => ['POST', `${ondemand_url}/v1/chat/completions`],
  control: ({ control_url }) => ['GET', `${control_url}/v1/me`],
};

/** Replaces the environments of functions by new ones, and waits until those have started. */
export const startNewEnvironments = async (run: TestRun, functions: readonly string[]): Promise<void> => {
  const pidsOf = async (name: string): Promise<readonly number[]> => (await run.facts()).pids.functions[name] ?? [];
  const replace = async (name: string): Promise<void> => {
    const before = await pidsOf(name);
    if (before.length === 0) throw new Error(`The function ${name} has no process.`);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await eventually(async () => {
      const after = await pidsOf(name);
      return after.length > 0 && after.every((pid) => !before.includes(pid));
    }, `the function ${name} has a new process`);
    const [method, url] = PROBES[name]?.(run) ?? [];
    if (method && url) await (await fetch(url, { method })).arrayBuffer();
  };
  await Promise.all(functions.map(replace));
};

/** Lets inference forget models and names of aliases, which it remembers for 30 s. */
export const forgetModels = async (run: TestRun): Promise<void> => {
  const { inference = [] } = (await run.facts()).pids.functions;
  if (inference.length > 0) await startNewEnvironments(run, ['inference']);
};
