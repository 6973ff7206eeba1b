import type { ServerResponse } from 'node:http';
import type { Control, ControlSettings } from '../control.ts';
import { generate } from '../generation/generate.ts';
import type { LanguageModel } from '../model.ts';
import { FaultReached, paceSteps } from '../pace.ts';
import { breakReply } from '../reply.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import { type ChatLimits, planChat } from './plan.ts';
import type { ChatRequest } from './request.ts';
import { sendStream, sendWhole } from './send.ts';

export type ChatContext = { model: LanguageModel; tokenizer: ContainerTokenizer; control: Control; limits: ChatLimits };

/** A body parser of the route in: the two chat routes explain a body they cannot read in different words. */
export type ReadChatRequest = () => ChatRequest;

/** Answers one chat completion, streamed or whole, at the speed and with the fault that `/control` has set; stops when the client leaves. */
export async function answerChat(context: ChatContext, readRequest: ReadChatRequest, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  if (response.destroyed) return;
  const settings = context.control.takeSettings();
  try {
    if (settings.fault && isBeforeAnything(settings.fault)) throw new FaultReached(settings.fault);
    await generateReply(context, readRequest(), settings, response, left.signal);
  } catch (error) {
    if (left.signal.aborted) return;
    if (!(error instanceof FaultReached)) throw error;
    await breakReply(response, error.fault, left.signal);
  }
}

const isBeforeAnything = ({ kind, after_tokens }: NonNullable<ControlSettings['fault']>): boolean =>
  kind === 'error' || (kind === 'die' && after_tokens === undefined);

async function generateReply(
  { model, tokenizer, limits }: ChatContext,
  request: ChatRequest,
  settings: ControlSettings,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const plan = planChat(request, tokenizer, limits);
  const steps = paceSteps(generate(model, tokenizer, plan.generation), settings, signal);
  const asked = request.stream ? (request.stream_options?.include_usage ?? false) : true;
  const reply = { response, signal, plan, tokenizer, sendsUsage: asked && !settings.omit_usage };
  await (request.stream ? sendStream(reply, steps) : sendWhole(reply, steps));
}
