import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';

// V8's sampling profiler: a tree of functions, and the function that ran at each sample.
const Profile = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.int(), columnNumber: z.int() }),
      children: z.array(z.int()).optional(),
    }),
  ),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.int()),
});

/** A function on the stack of a sample. */
export type Frame = z.output<typeof Profile>['nodes'][number]['callFrame'];

/** The time of one stack, from its innermost function outwards. */
export interface StackTime {
  stack: Frame[];
  microseconds: number;
}

const Targets = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1);
const Reply = z.object({ id: z.int().optional(), result: z.unknown().optional(), error: z.unknown().optional() });

// Node's inspector listens here after SIGUSR1.
const INSPECTOR = 'http://127.0.0.1:9229/json/list';
const MAX_TRIES = 50;
const TRY_MS = 20;
const SAMPLE_MICROSECONDS = 200;

const findTarget = async (): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (Targets.parse(await (await fetch(INSPECTOR)).json())[0] as { webSocketDebuggerUrl: string }).webSocketDebuggerUrl;
    } catch (error) {
      if (attempt === MAX_TRIES) throw error;
      await delay(TRY_MS);
    }
  }
};

const connectToInspector = async (url: string) => {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (reply: z.output<typeof Reply>) => void>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const reply = Reply.parse(JSON.parse(String(data)));
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`The inspector at ${url} refuses the connection.`)));
  });
  return {
    send: async (method: string, params: object = {}): Promise<unknown> => {
      lastId += 1;
      const id = lastId;
      const reply = new Promise<z.output<typeof Reply>>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params }));
      const { result, error } = await reply;
      waiting.delete(id);
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    },
    close: (): void => socket.close(),
  };
};

/** Profiles a Node process while `work` runs. The inspector's port must be free. */
export const profileProcess = async (pid: number, work: () => Promise<unknown>): Promise<StackTime[]> => {
  process.kill(pid, 'SIGUSR1');
  const session = await connectToInspector(await findTarget());
  try {
    await session.send('Profiler.enable');
    await session.send('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
    await session.send('Profiler.start');
    await work();
    const { profile } = z.object({ profile: Profile }).parse(await session.send('Profiler.stop'));
    await session.send('Profiler.disable');
    return toStackTimes(profile);
  } finally {
    session.close();
  }
};

const toStackTimes = ({ nodes, samples, timeDeltas }: z.output<typeof Profile>): StackTime[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const stackOf = (id: number): Frame[] => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) stack.push(byId.get(at)?.callFrame as Frame);
    return stack;
  };
  const times = new Map<number, number>();
  // A sample holds until the next one.
  for (const [i, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + Math.max(0, timeDeltas[i + 1] ?? 0));
  return [...times].map(([id, microseconds]) => ({ stack: stackOf(id), microseconds }));
};
