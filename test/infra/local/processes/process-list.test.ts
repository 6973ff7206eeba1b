import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const LIST = path.join(import.meta.dirname, '../../../../infra/local/processes/process-list.ts');

const sleeper = (): ChildProcess => spawn('sleep', ['300'], { stdio: 'ignore' });
const pidOf = ({ pid }: ChildProcess): number => pid as number;

// Lists these as started, then the last one as ended, and stays.
const listIn = async (...children: ChildProcess[]): Promise<ChildProcess> => {
  const program = `
    import { createProcessList } from ${JSON.stringify(LIST)};
    const list = createProcessList();
    for (const pid of ${JSON.stringify(children.map(pidOf))}) list.started(pid);
    list.ended(${pidOf(children.at(-1) as ChildProcess)});
    process.stdout.write('listed');
    setInterval(() => undefined, 60_000);`;
  const runner = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(runner.stdout as NodeJS.ReadableStream, 'data');
  return runner;
};

test("kills the runner's processes, frozen ones too, and nothing else, when the runner is killed", async () => {
  const [running, frozen, ended] = [sleeper(), sleeper(), sleeper()];
  frozen.kill('SIGSTOP');
  const runner = await listIn(running, frozen, ended);
  const exits = [running, frozen].map((child) => once(child, 'exit'));
  runner.kill('SIGKILL');
  expect(await Promise.all(exits)).toEqual([
    [null, 'SIGKILL'],
    [null, 'SIGKILL'],
  ]);
  expect([ended.exitCode, ended.signalCode]).toEqual([null, null]);
  ended.kill('SIGKILL');
});
