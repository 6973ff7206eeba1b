import { generate } from '../generation/generate.ts';
import type { Exchange, ServingContext } from '../replies/answering.ts';
import { paceSteps } from '../replies/pace.ts';
import { asksUsage } from '../requests/fields.ts';
import { echoesOf } from './echo.ts';
import { planCompletion } from './plan.ts';
import type { CompletionRequest } from './request.ts';
import { sendStream, sendWhole } from './send.ts';

/** Answers a text completion request, streamed or not. Throws what `planCompletion` throws, and `FaultReached`. */
export const replyToCompletion = async (
  { model, tokenizer, batch, limits }: ServingContext,
  request: CompletionRequest,
  { response, settings, signal }: Exchange,
): Promise<void> => {
  const plan = planCompletion(request, tokenizer, limits);
  const echoes = await echoesOf(plan, model, signal);
  const steps = paceSteps(generate(model, tokenizer, plan.generations), { settings, signal, batch, requests: plan.generations });
  const reply = { response, signal, plan, echoes, tokenizer, sendsUsage: asksUsage(request) && !settings.omit_usage };
  await (request.stream ? sendStream(reply, steps) : sendWhole(reply, steps));
};
