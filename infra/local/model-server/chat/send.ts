import type { ServerResponse } from 'node:http';
import type { Step } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { createReplyHead, DONE, openStream, sendBody, sendPart, toEvent, toUsage } from '../replies/reply.ts';
import { addDelta, createDeltas, type Message } from './deltas.ts';
import type { ChatPlan } from './plan.ts';
import { toChoiceFinish, toCompletion, toDeltaChunk, toFinishChunk, toRoleChunk, toTokenFacts, toUsageChunk } from './reply.ts';

// The signal aborts when the client disconnects.
interface Reply {
  response: ServerResponse;
  signal: AbortSignal;
  plan: ChatPlan;
  tokenizer: ContainerTokenizer;
  sendsUsage: boolean;
}

/** Sends a non-streamed response when all its answers are complete. */
export const sendWhole = async ({ response, plan, tokenizer, sendsUsage }: Reply, steps: AsyncIterable<Step>): Promise<void> => {
  const { generation, echo } = plan;
  const toDeltas = createDeltas(plan);
  const collected = Array.from({ length: generation.choices }, () => ({ message: emptyMessage(echo), steps: [] as Step[] }));
  let tokens = 0;
  for await (const step of steps) {
    tokens += 1;
    const answer = collected[step.choice];
    if (!answer) continue;
    for (const delta of toDeltas(step)) addDelta(answer.message, delta);
    answer.steps.push(step);
  }
  const answers = collected.map(({ message, steps: own }) => ({
    message,
    facts: toTokenFacts(own, plan, tokenizer),
    finish: toChoiceFinish(own.at(-1)?.finish ?? { reason: 'length', stopReason: null }, plan),
  }));
  const usage = sendsUsage ? toUsage(generation.prompt.length, tokens) : undefined;
  sendBody(response, 200, toCompletion(headOf(plan), answers, promptTokenIds(plan), usage));
};

const headOf = ({ modelName, requestId }: ChatPlan) => createReplyHead('chatcmpl', modelName, requestId);

const emptyMessage = (content: string): Message => ({ content, reasoning: '', toolCalls: [] });

const promptTokenIds = ({ showsTokenIds, generation }: ChatPlan): readonly number[] | null => (showsTokenIds ? generation.prompt : null);

/** Streams the response. The chunks of its answers alternate. */
export const sendStream = async ({ response, signal, plan, tokenizer, sendsUsage }: Reply, steps: AsyncIterable<Step>): Promise<void> => {
  const { generation, echo } = plan;
  const head = headOf(plan);
  const toDeltas = createDeltas(plan);
  const send = (value: unknown) => sendPart(response, toEvent(value), signal);
  // The steps of each choice since its last chunk.
  const waiting = Array.from({ length: generation.choices }, (): Step[] => []);
  const takeFacts = (choice: number) => toTokenFacts(waiting[choice]?.splice(0) ?? [], plan, tokenizer);

  openStream(response);
  for (const index of waiting.keys()) await send(toRoleChunk(head, index, index === 0 ? promptTokenIds(plan) : null));
  if (echo !== '')
    for (const index of waiting.keys()) await send(toDeltaChunk(head, index, { content: echo }, { logprobs: null, tokenIds: null }));
  let tokens = 0;
  for await (const step of steps) {
    const { choice, finish } = step;
    tokens += 1;
    waiting[choice]?.push(step);
    for (const delta of toDeltas(step)) await send(toDeltaChunk(head, choice, delta, takeFacts(choice)));
    if (finish) await send(toFinishChunk(head, choice, toChoiceFinish(finish, plan), takeFacts(choice)));
  }
  if (sendsUsage) await send(toUsageChunk(head, toUsage(generation.prompt.length, tokens)));
  response.end(DONE);
};
