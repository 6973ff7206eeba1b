import type { ServerResponse } from 'node:http';
import type { LanguageModel } from '../model/language-model.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import type { ServingLimits } from '../requests/served-models.ts';
import type { VectorModel } from '../vectors/vectors.ts';
import type { Batch } from './batch.ts';
import type { Control, ControlSettings } from './control.ts';
import { FaultReached } from './pace.ts';
import { breakReply } from './reply.ts';

/** The models and settings that all requests share. */
export interface ServingContext {
  model: LanguageModel;
  vectors: VectorModel;
  tokenizer: ContainerTokenizer;
  control: Control;
  batch: Batch;
  limits: ServingLimits;
}

/** The response to one request and the settings that apply to it. The signal aborts when the client disconnects. */
export interface Exchange {
  response: ServerResponse;
  settings: ControlSettings;
  signal: AbortSignal;
}

/**
 * Runs `reply` with the current `/control` settings and breaks the response at their fault. Stops when the client
 * disconnects. `reply` also parses the request, because some faults must come before validation errors.
 */
export const answer = async (control: Control, response: ServerResponse, reply: (exchange: Exchange) => Promise<void>): Promise<void> => {
  const left = new AbortController();
  response.once('close', () => left.abort());
  if (response.destroyed) return;
  const settings = control.takeSettings();
  try {
    if (settings.fault && precedesValidation(settings.fault)) throw new FaultReached(settings.fault);
    await reply({ response, settings, signal: left.signal });
  } catch (error) {
    if (left.signal.aborted) return;
    if (!(error instanceof FaultReached)) throw error;
    await breakReply(response, error.fault, left.signal);
  }
};

const precedesValidation = ({ kind, after_tokens }: NonNullable<ControlSettings['fault']>): boolean =>
  kind === 'error' || (kind === 'die' && after_tokens === undefined);
