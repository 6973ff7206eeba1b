import type { ServerResponse } from 'node:http';
import type { Control, ControlSettings } from './control.ts';
import type { LanguageModel } from './model.ts';
import { FaultReached } from './pace.ts';
import { breakReply } from './reply.ts';
import type { ServingLimits } from './served-models.ts';
import type { ContainerTokenizer } from './tokenizer.ts';

/** What answers are made with. */
export interface ServingContext {
  model: LanguageModel;
  tokenizer: ContainerTokenizer;
  control: Control;
  limits: ServingLimits;
}

/** One request's way back: where its reply goes, how fast and how broken; the signal is aborted when the client leaves. */
export interface Exchange {
  response: ServerResponse;
  settings: ControlSettings;
  signal: AbortSignal;
}

/** Lets a function reply with the fault that `/control` has set; it reads the request too, so that some faults come before any refusal. Stops when the client leaves. */
export const answer = async (control: Control, response: ServerResponse, reply: (exchange: Exchange) => Promise<void>): Promise<void> => {
  const left = new AbortController();
  response.once('close', () => left.abort());
  if (response.destroyed) return;
  const settings = control.takeSettings();
  try {
    if (settings.fault && isBeforeAnything(settings.fault)) throw new FaultReached(settings.fault);
    await reply({ response, settings, signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) return;
    if (!(error instanceof FaultReached)) throw error;
    await breakReply(response, error.fault, left.signal);
  }
};

const isBeforeAnything = ({ kind, after_tokens }: NonNullable<ControlSettings['fault']>): boolean =>
  kind === 'error' || (kind === 'die' && after_tokens === undefined);
