import { inParallel } from '../../../shared/database/in-parallel.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { Model, Target, TokenizerFiles } from '../../../shared/models/model.ts';
import { FunctionError, FunctionUnavailable } from '../../../shared/tokens/function-errors.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { MistranslatedRequest, publicText, RefusedByModel, type UpstreamCode, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invoke.ts';
import type { ChatCompletionRequest } from '../../inference/chat/request.ts';
import { toChatPrompt } from '../../inference/chat/to-prompt.ts';
import { toUpstreamChat } from '../../inference/chat/to-upstream.ts';
import { type EndpointFacts, type EndpointFactsReader, placeOf, TargetHidden } from './endpoint-facts.ts';
import { type Check, CheckName, type RegistrationReport, type TargetReport, type TokenizerReport } from './registration-report.ts';

const MAX_AT_ONCE = 4;
const PROBE_TIMEOUT_MS = 20_000;
const PROBE_TOKENS = 1;

export interface CheckDependencies {
  facts: EndpointFactsReader;
  /** What requests are answered through, too. */
  invoke: Invoke;
  tokenizer: Pick<Tokenizer, 'fit'>;
  /** Endpoints and inference components that carry this tag, with the value `true`, may be invoked. */
  endpointTag: string;
  now: () => number;
  /** How long a target may take to answer; 20 s unless it is given. */
  probeTimeoutMs?: number;
  /** How long all of it may take: what is not known by then has failed. Without it, as long as it takes. */
  totalTimeoutMs?: number;
}

type Finding = Omit<Check, 'name'>;
const passing = (detail: string): Finding => ({ passed: true, detail });
const failing = (detail: string): Finding => ({ passed: false, detail });
const TOO_LATE = failing('There was no answer in time. Check again shortly.');
const NOT_TRIED = failing('It was not tried, because an earlier check has failed.');

/** A target's endpoint, and its inference component where it names one. */
const partsOf = ({ endpoint, component }: Target, facts: EndpointFacts) => [
  { what: `endpoint '${endpoint}'`, status: facts.endpointStatus, tags: facts.endpointTags },
  ...(component === undefined
    ? []
    : [{ what: `inference component '${component}'`, status: facts.componentStatus, tags: facts.componentTags ?? {} }]),
];

const listed = (target: Target, facts: EndpointFacts): string =>
  partsOf(target, facts)
    .map(({ what }) => `the ${what}`)
    .join(' and ');

const checkExists = (target: Target, facts: EndpointFacts): Finding => {
  const { endpoint, component, region } = target;
  const missing = partsOf(target, facts).find(({ status }) => status === undefined);
  if (missing) return failing(`There is no ${missing.what} in ${placeOf(region)}. Check its name and its region.`);
  if (component !== undefined && facts.componentEndpoint !== endpoint)
    return failing(
      `The inference component '${component}' is on the endpoint '${facts.componentEndpoint}', not on '${endpoint}'. Name that endpoint, or another component.`,
    );
  return passing(`SageMaker has ${listed(target, facts)}.`);
};

const checkTagged = (target: Target, facts: EndpointFacts, tag: string): Finding => {
  const untagged = partsOf(target, facts).find(({ tags }) => tags[tag] !== 'true');
  if (untagged)
    return failing(`The ${untagged.what} has no tag '${tag}' with the value 'true', without which Sluice may not invoke it. Add the tag.`);
  return passing(`The tag '${tag}' with the value 'true' is on ${listed(target, facts)}.`);
};

/** Statuses that pass by themselves. */
const PASSING_STATUSES = new Set(['Creating', 'Updating', 'SystemUpdating', 'RollingBack']);

const checkInService = (target: Target, facts: EndpointFacts): Finding => {
  const { what, status = '' } = partsOf(target, facts).find((part) => part.status !== 'InService') ?? {};
  if (what === undefined) return passing(`SageMaker says InService of ${listed(target, facts)}.`);
  const advice = PASSING_STATUSES.has(status) ? 'Wait until it is, and check again.' : "SageMaker's console says why.";
  return failing(`The ${what} is ${status}, not InService. ${advice}`);
};

const requestOf = ({ name }: Model): ChatCompletionRequest => ({
  model: name,
  messages: [{ role: 'user', content: 'Hi' }],
  max_tokens: PROBE_TOKENS,
  stream: true,
});

/** The body that the model's requests have. Its own id is the salt too: what it leaves in the container's cache, nobody meets. */
const probeBody = (model: Model, { container_model: containerModel = '' }: Target, requestId: string): string => {
  const request = requestOf(model);
  const prompt = toChatPrompt(request, model);
  return JSON.stringify(
    toUpstreamChat(request, model, { containerModel, prompt, maxTokens: PROBE_TOKENS, requestId, cacheSalt: requestId }),
  );
};

/** Where words begin that are not an admin's: a traceback, or the console's address. */
const NOT_TOLD = /Traceback|\\n|\n|\. See https?:/;
const LOOSE_END = / with message "$|\.$/;
const plainWords = (text: string): string => publicText((text.split(NOT_TOLD, 1)[0] ?? '').replace(LOOSE_END, ''));

const ADVICE: Readonly<Record<UpstreamCode, string>> = {
  upstream_error: "See the endpoint's log in CloudWatch; if the container does not know the model's name, set container_model.",
  upstream_timeout: "See the endpoint's log in CloudWatch.",
  no_capacity: 'Give it more instances or copies, or check again later.',
  model_not_ready: 'Check again in a few minutes.',
};

const wordsOf = (error: unknown, { dialect }: Model): string => {
  if (error instanceof MistranslatedRequest)
    return `The container does not understand requests in the dialect '${dialect}'. Choose the dialect of its runtime, or a container that serves chat at /invocations.`;
  if (error instanceof RefusedByModel) return `The container refuses a short chat request: ${error.message}`;
  if (error instanceof UpstreamFailed)
    return `A short chat request failed: ${plainWords(error.detail)}. ${ADVICE[error.code as UpstreamCode]}`;
  throw error;
};

const checkAnswers = async (deps: CheckDependencies, model: Model, target: Target): Promise<Finding> => {
  const { invoke, now, probeTimeoutMs = PROBE_TIMEOUT_MS } = deps;
  const startMs = now();
  const body = probeBody(model, target, newRequestId(startMs));
  const signal = new AbortController();
  const deadline = AbortSignal.timeout(probeTimeoutMs);
  deadline.addEventListener('abort', () => signal.abort(), { once: true });
  try {
    // The answer is whole when this ends: its reader throws where its end is missing.
    for await (const _ of invoke({ target, body, choices: 1, signal }));
    return passing(`The container answered a short chat request in ${now() - startMs} ms.`);
  } catch (error) {
    const { endpoint, component } = target;
    logInfo('probe_failed', { endpoint, component, detail: error instanceof UpstreamFailed ? error.detail : String(error) });
    if (deadline.aborted)
      return failing(
        `The container did not answer a short chat request within ${probeTimeoutMs / 1_000} s. See the endpoint's log in CloudWatch.`,
      );
    return failing(wordsOf(error, model));
  }
};

/** What a step finds, or that it came too late. */
type InTime = (step: () => Promise<Finding>) => Promise<Finding>;

const checkTarget = async (deps: CheckDependencies, model: Model, target: Target, inTime: InTime): Promise<TargetReport> => {
  let facts: EndpointFacts = { endpointStatus: undefined, endpointTags: {} };
  const steps: Record<CheckName, () => Finding | Promise<Finding>> = {
    exists: async () => {
      facts = await deps.facts.describe(target);
      return checkExists(target, facts);
    },
    tagged: () => checkTagged(target, facts, deps.endpointTag),
    in_service: () => checkInService(target, facts),
    answers: () => checkAnswers(deps, model, target),
  };
  const checks: Check[] = [];
  for (const name of CheckName.options) {
    const finding = checks.every(({ passed }) => passed) ? await inTime(() => orHidden(steps[name])) : NOT_TRIED;
    checks.push({ name, ...finding });
  }
  return { endpoint: target.endpoint, component: target.component ?? null, region: target.region ?? null, checks };
};

const orHidden = async (step: () => Finding | Promise<Finding>): Promise<Finding> => {
  try {
    return await step();
  } catch (error) {
    if (error instanceof TargetHidden) return failing(error.message);
    throw error;
  }
};

const checkTokenizer = async ({ tokenizer }: CheckDependencies, model: Model, files: TokenizerFiles): Promise<TokenizerReport> => {
  try {
    const prompt = toChatPrompt(requestOf(model), model);
    const { prompt_tokens: tokens } = await tokenizer.fit({ files, prompt, max_prompt_tokens: null });
    if (!tokens) return failing('The chat template makes no prompt of one short message. Correct it, and register its file again.');
    return passing(`It counts ${tokens} tokens in a conversation of one short message.`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!(error instanceof FunctionUnavailable)) return failing(error.message);
    logError('tokenizer_check_failed', error.cause, { model: model.name });
    if (!(error.cause instanceof FunctionError)) return failing('The tokenizer cannot be asked at the moment. Check again shortly.');
    return failing(
      `The tokenizer's files cannot be used: ${plainWords(error.cause.message.replace(FUNCTION_NAME, ''))}. Register them again.`,
    );
  }
};

const FUNCTION_NAME = /^The function \S+ failed: /;

/**
 * Whether a model could be served: each of its targets is looked up and asked for one token, in the words and through the code of every request;
 * its tokenizer counts a conversation. Nothing of it is billed.
 * @throws SageMakerUnavailable (503), when the targets cannot be looked up
 */
export const checkTargets = async (deps: CheckDependencies, model: Model): Promise<RegistrationReport> => {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const late = new Promise<Finding>((resolve) => {
    const { totalTimeoutMs } = deps;
    const expire = (): void => {
      isLate = true;
      resolve(TOO_LATE);
    };
    if (totalTimeoutMs !== undefined) timer = setTimeout(expire, totalTimeoutMs);
  });
  const inTime: InTime = async (step) => (isLate ? TOO_LATE : Promise.race([late, step()]));
  try {
    return await checkAll(deps, model, inTime);
  } finally {
    clearTimeout(timer);
  }
};

const checkAll = async (deps: CheckDependencies, model: Model, inTime: InTime): Promise<RegistrationReport> => {
  const targets: TargetReport[] = [];
  const checkAt = async ([index, target]: [number, Target]): Promise<void> => {
    targets[index] = await checkTarget(deps, model, target, inTime);
  };
  const { tokenizer: files } = model;
  const [failures, tokenizer] = await Promise.all([
    inParallel([...model.targets.entries()], MAX_AT_ONCE, checkAt),
    files ? inTime(() => checkTokenizer(deps, model, files)) : null,
  ]);
  if (failures.length > 0) throw failures[0];
  const passed = targets.every(({ checks }) => checks.every((check) => check.passed)) && (tokenizer?.passed ?? true);
  return { targets, tokenizer, passed };
};
