import { deprecationHeaders } from '../../../shared/models/deprecation.ts';
import type { Model } from '../../../shared/models/model.ts';
import { costNanos, type Price } from '../../../shared/prices/price.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import type { WindowRequest } from './fit-window.ts';
import type { InferenceRequest, InferenceRoute } from './inference-route.ts';
import { checkTask } from './model-task.ts';
import { maxPromptTokens, measurePrompt, reservedTokens } from './prompt-size.ts';

/** A request, its model and the price in force, worked out before anything is written. */
export interface PreparedRequest<P extends Prompt = Prompt> {
  prompt: P;
  promptBytes: number;
  /** No text of the prompt has more tokens than this. */
  longestTokens: number;
  /** The whole prompt has no more tokens than this. */
  maxPromptTokens: number;
  choices: number;
  /** The limit of each choice. */
  maxTokens: number;
  /** The answer is vectors or scores, for which the runtime counts no tokens. */
  hasNoOutput?: true;
  window: WindowRequest;
  /** To reserve from the tokens-per-minute limit. */
  tokens: number;
  /** The maximum cost in nano-dollars; computed only if money is limited. */
  maxCostNanos: () => bigint;
  /** The milliseconds that the request waits if its deployment has no capacity. */
  waitMs: number;
  /** The value of `x-sluice-ignored`; undefined if the reply has none. */
  ignored: string | undefined;
  /** The documented fields among those that have no effect. */
  ignoredFields: string[];
  /** The headers of the reply that follow from the request and its model. */
  headers: Record<string, string>;
}

/** The maximum number of tokens of each choice: the caller's or the default limit, within the model's own. */
export const resolveMaxTokens = (
  requested: number | undefined,
  model: Pick<Model, 'default_output_tokens' | 'max_output_tokens'>,
): number => Math.min(requested ?? model.default_output_tokens, model.max_output_tokens);

const MAX_CHARACTERS = 2_000;
const MAX_NAME_CHARACTERS = 64;

/** Lists the fields that have no effect. Names are percent-encoded; names that don't fit are counted. */
export const ignoredHeader = (names: readonly string[]): Record<string, string> => {
  if (names.length === 0) return {};
  const listed: string[] = [];
  let characters = 0;
  for (const name of names) {
    const encoded = encodeURIComponent(name.toWellFormed()).slice(0, MAX_NAME_CHARACTERS);
    characters += encoded.length + 2;
    if (characters > MAX_CHARACTERS) break;
    listed.push(encoded);
  }
  const more = names.length - listed.length;
  return { 'x-sluice-ignored': [...listed, ...(more > 0 ? [`${more} more`] : [])].join(', ') };
};

type PreparedRoute<Request extends InferenceRequest, P extends Prompt> = Pick<
  InferenceRoute<Request, P>,
  'task' | 'maxTokens' | 'checkSupport' | 'choices' | 'toPrompt' | 'ignored' | 'isDocumented' | 'window'
>;

/** Prepares a valid request for its model. @throws 400 if the request asks for something that the model can't do */
export const prepareRequest = <Request extends InferenceRequest, P extends Prompt>(
  route: PreparedRoute<Request, P>,
  request: Request,
  model: Model,
  price: Price,
  waitMs = 0,
): PreparedRequest<P> => {
  checkTask(model, route.task);
  const maxTokens = resolveMaxTokens(route.maxTokens(request), model);
  route.checkSupport(request, model, maxTokens);
  const choices = route.choices(request);
  const prompt = route.toPrompt(request, model);
  const size = measurePrompt(prompt);
  const promptTokens = maxPromptTokens(prompt, size, model);
  const ignored = route.ignored(request, model);
  const headers = ignoredHeader(ignored);
  return {
    prompt,
    promptBytes: size.bytes,
    longestTokens: size.longestTokens,
    maxPromptTokens: promptTokens,
    choices,
    maxTokens,
    window: route.window(request, model, maxTokens),
    tokens: reservedTokens({ promptBytes: size.bytes, maxTokens, choices }),
    waitMs,
    maxCostNanos: () => costNanos(price, { promptTokens, completionTokens: choices * maxTokens }),
    ignored: headers['x-sluice-ignored'],
    ignoredFields: ignored.length > 0 ? ignored.filter(route.isDocumented) : ignored,
    headers: { ...headers, ...deprecationHeaders(model) },
  };
};
