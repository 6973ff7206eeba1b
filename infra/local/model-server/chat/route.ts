import { generate } from '../generation/generate.ts';
import type { Exchange, ServingContext } from '../replies/answering.ts';
import { paceSteps } from '../replies/pace.ts';
import { asksUsage } from '../requests/fields.ts';
import { planChat } from './plan.ts';
import type { ChatRequest } from './request.ts';
import { sendStream, sendWhole } from './send.ts';

/** Answers a chat completion request, streamed or not. Throws what `planChat` throws, and `FaultReached`. */
export const replyToChat = async (
  { model, tokenizer, batch, limits }: ServingContext,
  request: ChatRequest,
  { response, settings, signal }: Exchange,
): Promise<void> => {
  const plan = planChat(request, tokenizer, limits);
  const requests = [plan.generation];
  const steps = paceSteps(generate(model, tokenizer, requests), { settings, signal, batch, requests });
  const reply = { response, signal, plan, tokenizer, sendsUsage: asksUsage(request) && !settings.omit_usage };
  await (request.stream ? sendStream(reply, steps) : sendWhole(reply, steps));
};
