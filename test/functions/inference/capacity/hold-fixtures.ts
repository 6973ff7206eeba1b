import { setTimeout as delay } from 'node:timers/promises';
import type { ColdWorld } from '../../../support/fixtures/cold-deployment.ts';

export const errorOf = ({ body }: { body: unknown }) =>
  (JSON.parse(body as string) as { error: { code: string; param: string; message: string; wake?: object } }).error;
export const answerOf = ({ body }: { body: unknown }) =>
  (JSON.parse(body as string) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
export const NOBODY = { held: 0, running: 0 };

/** Moves the clock until a reply is there. */
export const settle = async <Reply>(world: ColdWorld, reply: Promise<Reply>): Promise<Reply> => {
  let isThere = false;
  const there = reply.finally(() => {
    isThere = true;
  });
  for (let step = 0; !isThere && step < 3_000; step++) await world.clock.advance(1_000, 1_000);
  return there;
};

const HELD_MS = 5_000;

/** A reply that needs no time of the virtual clock. Rejects if the request is held. */
export const atOnce = async <Reply>(reply: Promise<Reply>): Promise<Reply> => {
  const ended = new AbortController();
  const held = delay(HELD_MS, undefined, { signal: ended.signal }).then(() => {
    throw new Error('The request is held.');
  });
  return Promise.race([reply, held]).finally(() => ended.abort());
};
