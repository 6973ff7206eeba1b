import type { ServerResponse } from 'node:http';
import {
  createReplyHead,
  type ReplyHead,
  toCompletion,
  toFinishChunk,
  toRoleChunk,
  toTextChunk,
  toUsage,
  toUsageChunk,
} from './chat-reply.ts';
import { type ChatLimits, type ChatRequest, planGeneration } from './chat-request.ts';
import type { Control, ControlSettings } from './control.ts';
import { generate, type Step } from './generate.ts';
import type { LanguageModel } from './model.ts';
import { FaultReached, paceSteps } from './pace.ts';
import { breakReply, DONE, sendBody, sendPart, toEvent } from './reply.ts';
import type { ContainerTokenizer } from './tokenizer.ts';

export type ChatContext = { model: LanguageModel; tokenizer: ContainerTokenizer; control: Control; limits: ChatLimits };

/** A body parser of the route in: the two chat routes explain a body they cannot read in different words. */
export type ReadChatRequest = () => ChatRequest;

type Reply = { response: ServerResponse; signal: AbortSignal; head: ReplyHead; promptTokens: number; sendsUsage: boolean };

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
  const plan = planGeneration(request, tokenizer, limits);
  const steps = paceSteps(generate(model, tokenizer, plan), settings, signal);
  const reply = { response, signal, head: createReplyHead(limits.modelName), promptTokens: plan.prompt.length };
  if (!request.stream) return sendWhole({ ...reply, sendsUsage: !settings.omit_usage }, steps);
  const asked = request.stream_options?.include_usage ?? false;
  return sendStream({ ...reply, sendsUsage: asked && !settings.omit_usage }, steps);
}

async function sendWhole({ response, head, promptTokens, sendsUsage }: Reply, steps: AsyncIterable<Step>): Promise<void> {
  let content = '';
  let tokens = 0;
  for await (const { text, finish } of steps) {
    content += text;
    tokens += 1;
    if (finish) sendBody(response, 200, toCompletion(head, content, finish, sendsUsage ? toUsage(promptTokens, tokens) : undefined));
  }
}

async function sendStream({ response, signal, head, promptTokens, sendsUsage }: Reply, steps: AsyncIterable<Step>): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  await sendPart(response, toEvent(toRoleChunk(head)), signal);
  let tokens = 0;
  for await (const { text, finish } of steps) {
    tokens += 1;
    if (text !== '') await sendPart(response, toEvent(toTextChunk(head, text)), signal);
    if (finish) await sendPart(response, toEvent(toFinishChunk(head, finish)), signal);
  }
  if (sendsUsage) await sendPart(response, toEvent(toUsageChunk(head, toUsage(promptTokens, tokens))), signal);
  response.end(DONE);
}
