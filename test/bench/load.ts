import { type Answer, ask, type Server } from './client.ts';
import { type Bound, keepInFlight } from './lib/keep-in-flight.ts';

export interface Load {
  answers: Answer[];
  elapsedMs: number;
}

/** Keeps `concurrency` requests in flight until the bound is reached, and waits for the last of them. */
export const applyLoad = async (server: Server, body: string, concurrency: number, bound: Bound): Promise<Load> => {
  const answers: Answer[] = [];
  const elapsedMs = await keepInFlight(concurrency, bound, async () => {
    answers.push(await ask(server, body));
  });
  return { answers, elapsedMs };
};
