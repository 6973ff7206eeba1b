import { reasoningOf, textOf, type UpstreamChoice, type UpstreamChunk, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';
import { DONE } from '../pipeline/server-sent-events.ts';
import { type CallStep, callIdPrefix, createCallReader, finishReasonOf, type ReplyForm, stopReasonOf, usageOf } from './reply.ts';

interface ChoiceState {
  hasFinished: boolean;
  calls?: ReturnType<typeof createCallReader>;
}

const ROLE = '{"role":"assistant","content":"","refusal":null}';

const toCallDelta = ({ index, opened, arguments: text }: CallStep): string =>
  JSON.stringify(
    opened
      ? { index, id: opened.id, type: 'function', function: { name: opened.name, arguments: text } }
      : { index, function: { arguments: text } },
  );

// The deprecated `function_call` can hold only the first call.
const toFunctionDelta = (steps: readonly CallStep[]): string => {
  const own = steps.filter(({ index }) => index === 0);
  const opened = own.find((step) => step.opened)?.opened;
  const text = own.map((step) => step.arguments).join('');
  return own.length > 0 ? JSON.stringify({ ...(opened && { name: opened.name }), arguments: text }) : '';
};

/**
 * Converts a runtime's chunks to the stream of interface 2.4. Each choice begins with a role chunk and ends with one
 * finish chunk; choices are interleaved as they arrive. Then the usage follows, if requested, and `[DONE]`. Every
 * method returns whole server-sent events.
 */
export const createChatStream = (facts: ReplyFacts, form: ReplyForm) => {
  const head = `data: ${JSON.stringify({ id: facts.id, object: 'chat.completion.chunk', created: facts.created, model: facts.model }).slice(0, -1)},"choices":`;
  const tail = form.includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  const choices = new Map<number, ChoiceState>();
  // Finish chunks that wait for the measurements.
  const held: string[] = [];
  let promptTokenIds: number[] | null = null;
  let metrics: Record<string, unknown> | undefined;

  const event = (choice: string, more = ''): string => `${head}[${choice}]${more}${tail}`;

  const begin = (index: number): string => {
    choices.set(index, { hasFinished: false });
    const ids = form.tokenIds && promptTokenIds ? `,"prompt_token_ids":${JSON.stringify(promptTokenIds)}` : '';
    return event(`{"index":${index},"delta":${ROLE},"logprobs":null,"finish_reason":null}`, ids);
  };

  const deltaOf = (choice: UpstreamChoice, state: ChoiceState, index: number): string => {
    const delta = choice.delta ?? {};
    const parts: string[] = [];
    const reasoning = reasoningOf(delta);
    if (reasoning) parts.push(`"reasoning":${JSON.stringify(reasoning)}`);
    const content = textOf(delta.content);
    if (content) parts.push(`"content":${JSON.stringify(content)}`);
    const called = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
    if (called.length > 0) state.calls ??= createCallReader(callIdPrefix(facts, index));
    if (state.calls) {
      const steps = state.calls.take(called, choice.finish_reason);
      const call = form.isLegacy ? toFunctionDelta(steps) : steps.map(toCallDelta).join(',');
      if (call) parts.push(form.isLegacy ? `"function_call":${call}` : `"tool_calls":[${call}]`);
    }
    return parts.join(',');
  };

  const finish = (choice: UpstreamChoice, index: number, hasCalls: boolean): string => {
    const stopReason = stopReasonOf(choice);
    const end = `{"index":${index},"delta":{},"logprobs":null,"finish_reason":${JSON.stringify(finishReasonOf(choice.finish_reason ?? '', form, hasCalls))}${stopReason === null ? '' : `,"stop_reason":${JSON.stringify(stopReason)}`}}`;
    if (!facts.perf) return event(end);
    held.push(end);
    return '';
  };

  const takeChoice = (choice: UpstreamChoice): string => {
    const index = Number(choice.index ?? 0);
    let events = choices.has(index) ? '' : begin(index);
    const state = choices.get(index) as ChoiceState;
    if (state.hasFinished) return events;
    const delta = deltaOf(choice, state, index);
    const logprobs = choice.logprobs?.content?.length ? JSON.stringify({ content: choice.logprobs.content, refusal: null }) : 'null';
    const ids = form.tokenIds && choice.token_ids?.length ? `,"token_ids":${JSON.stringify(choice.token_ids)}` : '';
    if (delta || ids || logprobs !== 'null')
      events += event(`{"index":${index},"delta":{${delta}},"logprobs":${logprobs},"finish_reason":null${ids}}`);
    if (choice.finish_reason) {
      state.hasFinished = true;
      events += finish(choice, index, (state.calls?.calls().length ?? 0) > 0);
    }
    return events;
  };

  const heldEnds = (): string => {
    const last = held.length - 1;
    const perf = JSON.stringify({ ...metrics, ...facts.perf?.() });
    return held.map((end, position) => event(end, position === last ? `,"perf_metrics":${perf}` : '')).join('');
  };

  return {
    /** The events for some chunks; '' when they have nothing for the caller. */
    take: (chunks: readonly UpstreamChunk[]): string => {
      let events = '';
      for (const chunk of chunks) {
        if (chunk.prompt_token_ids) promptTokenIds = chunk.prompt_token_ids;
        if (chunk.metrics) metrics = chunk.metrics;
        if (chunk.choices) for (const choice of chunk.choices) events += takeChoice(choice);
      }
      return events;
    },
    /** Finish chunks that waited for the measurements, and the usage if it was requested. */
    usage: (usage: UpstreamUsage): string =>
      heldEnds() + (form.includeUsage ? `${head}[],"usage":${JSON.stringify(usageOf(usage))}}\n\n` : ''),
    end: (): string => DONE,
  };
};
