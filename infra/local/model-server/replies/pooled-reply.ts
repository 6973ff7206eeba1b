import { setTimeout } from 'node:timers/promises';
import type { Exchange } from './answering.ts';
import { FaultReached } from './pace.ts';
import { sendBody } from './reply.ts';

/**
 * Sends the response of a model that generates nothing, after the delay before a first token. Throws `FaultReached`
 * instead if the settings have a fault.
 */
export const sendPooled = async ({ response, settings, signal }: Exchange, body: object): Promise<void> => {
  const { first_token_delay_ms: delayMs, fault } = settings;
  if (delayMs > 0) await setTimeout(delayMs, undefined, { signal });
  if (fault) throw new FaultReached(fault);
  sendBody(response, 200, body);
};
