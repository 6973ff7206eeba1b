import type { ContainerLog, ContainerLogLine } from '../aws/container-log.ts';

/** The state of a generation's containers according to their logs. */
export interface StartLog {
  /** True if a container wrote anything: it was downloaded, and runs. */
  hasStarted: boolean;
  /** The error that ends each start. */
  crash?: string;
}

// Lines that can end a traceback.
const ERRORS = '?"Error:" ?"Exception:"';
const ERROR = /((?:\w+\.)*\w*(?:Error|Exception)): .+$/;
// vLLM reports the root cause first.
const CONSEQUENCE = /see root cause|engine core initialization failed/i;

// A container is restarted after a crash.
const MIN_CRASHES = 3;

// Each process of a container can write the same error when it crashes. Lines closer together than this are one crash.
const SAME_CRASH_MS = 1_000;

// Numbers differ from one crash to the next.
const kindOf = (error: string): string => error.replace(/\d+(?:\.\d+)?/g, '0');

/**
 * The error that ended containers repeatedly.
 * @param lines oldest first
 * @param copies the number of copies that are starting
 */
export const crashOf = (lines: readonly ContainerLogLine[], copies: number): string | undefined => {
  const counts = new Map<string, { error: string; count: number; lastMs: Map<string, number> }>();
  for (const { atMs, stream, message } of lines) {
    const error = ERROR.exec(message.trim())?.[0];
    if (error === undefined) continue;
    const known = counts.get(kindOf(error)) ?? { error, count: 0, lastMs: new Map() };
    const isNew = atMs - (known.lastMs.get(stream) ?? Number.NEGATIVE_INFINITY) >= SAME_CRASH_MS;
    known.lastMs.set(stream, atMs);
    counts.set(kindOf(error), { ...known, count: known.count + (isNew ? 1 : 0) });
  }
  const loops = [...counts.values()].filter(({ count }) => count >= MIN_CRASHES * Math.max(1, copies));
  return (loops.find(({ error }) => !CONSEQUENCE.test(error)) ?? loops[0])?.error;
};

/** Reads the containers' logs since a start. To SageMaker, a crash loop looks like any start, for up to an hour. */
export const readStartLog = async (log: ContainerLog, component: string, sinceMs: number, copies: number): Promise<StartLog> => {
  const [first] = await log.read(component, sinceMs, '', 1);
  if (!first) return { hasStarted: false };
  const crash = crashOf(await log.read(component, sinceMs, ERRORS), copies);
  return { hasStarted: true, ...(crash !== undefined && { crash }) };
};
