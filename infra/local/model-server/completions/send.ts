import type { ServerResponse } from 'node:http';
import type { Step } from '../generation/generate.ts';
import { createReplyHead, DONE, openStream, sendBody, sendPart, toEvent, toUsage, type Usage } from '../replies/reply.ts';
import type { CompletionPlan } from './plan.ts';
import { createChunks, type Form, toTextCompletion } from './reply.ts';

// The signal aborts when the client disconnects.
interface Reply extends Form {
  response: ServerResponse;
  signal: AbortSignal;
  sendsUsage: boolean;
}

const headOf = ({ modelName, requestId }: CompletionPlan) => createReplyHead('cmpl', modelName, requestId);

const choiceCount = ({ prompts, choicesPerPrompt }: CompletionPlan): number => prompts.length * choicesPerPrompt;

const usageOf = ({ prompts }: CompletionPlan, tokens: number): Usage => toUsage(prompts.flatMap((prompt) => prompt.tokens).length, tokens);

/** Sends a non-streamed response when all its answers are complete. */
export const sendWhole = async ({ response, sendsUsage, ...form }: Reply, steps: AsyncIterable<Step>): Promise<void> => {
  const { plan } = form;
  const answers = Array.from({ length: choiceCount(plan) }, (): Step[] => []);
  for await (const step of steps) answers[step.choice]?.push(step);
  const usage = sendsUsage ? usageOf(plan, answers.flat().length) : undefined;
  sendBody(response, 200, toTextCompletion(headOf(plan), answers, form, usage));
};

/** Streams the response with one chunk per token. The chunks of its answers alternate. */
export const sendStream = async ({ response, signal, sendsUsage, ...form }: Reply, steps: AsyncIterable<Step>): Promise<void> => {
  const { plan } = form;
  const chunks = createChunks(headOf(plan), form);
  const send = (value: unknown) => sendPart(response, toEvent(value), signal);
  openStream(response);
  let tokens = 0;
  for await (const step of steps) {
    tokens += 1;
    await send(chunks.step(step));
  }
  if (tokens === 0) for (let index = 0; index < choiceCount(plan); index++) await send(chunks.echo(index));
  if (sendsUsage) await send(chunks.usage(usageOf(plan, tokens)));
  response.end(DONE);
};
