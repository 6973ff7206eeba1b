import { type Answer, ask, type Server } from './client.ts';

/** The end of a load: after this time, or after this many requests. */
export type Bound = { ms: number } | { requests: number };

export interface Load {
  answers: Answer[];
  elapsedMs: number;
}

/** Keeps `concurrency` requests in flight until the bound is reached, and waits for the last of them. */
export const applyLoad = async (server: Server, body: string, concurrency: number, bound: Bound): Promise<Load> => {
  const answers: Answer[] = [];
  const startedAt = performance.now();
  let sent = 0;
  const isOver = (): boolean => ('ms' in bound ? performance.now() - startedAt >= bound.ms : sent >= bound.requests);
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      sent += 1;
      answers.push(await ask(server, body));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { answers, elapsedMs: performance.now() - startedAt };
};
