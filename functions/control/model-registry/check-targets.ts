import { FunctionUnavailable } from '../../../shared/aws/function-errors.ts';
import { inParallel } from '../../../shared/database/in-parallel.ts';
import type { Model, Target, TokenizerFiles } from '../../../shared/models/model.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { checkTokenizer } from './check-tokenizer.ts';
import { type Finding, failing, passing } from './finding.ts';
import { probePooling } from './probe-pooling.ts';
import { decisive, probeStructured, sendsSchemas } from './probe-structured.ts';
import { probeTarget } from './probe-target.ts';
import {
  type Check,
  CheckName,
  type RegistrationReport,
  type StructuredReport,
  type TargetReport,
  type TokenizerReport,
} from './registration-report.ts';
import { type EndpointFactsReader, placeOf, type TargetFacts, TargetInaccessible } from './target-facts.ts';

const MAX_AT_ONCE = 4;
const PROBE_TIMEOUT_MS = 10_000;
// API Gateway waits 29 s for a response.
const TOTAL_TIMEOUT_MS = 25_000;

export interface TargetCheckDependencies {
  facts: EndpointFactsReader;
  /** The code that also sends callers' requests. */
  invoke: Invoke;
  /** Likewise, for replies that are not streamed. */
  invokeWhole: Invoke;
  tokenizer: Pick<Tokenizer, 'fit' | 'count'>;
  /** Endpoints and inference components with this tag and the value `true` can be invoked. */
  endpointTag: string;
  now: () => number;
  /** The timeout of a target's answer. */
  probeTimeoutMs?: number;
  /** The timeout of all checks together. Unfinished checks then fail. */
  totalTimeoutMs?: number;
}

/** Checks a model. @throws SageMakerUnavailable (503) if its targets cannot be looked up */
export type CheckModel = (model: Model) => Promise<RegistrationReport>;

const LATE = Symbol('late');
const TOO_LATE = failing('The check timed out. Check again shortly.');
const NOT_TRIED = failing('Skipped because an earlier check failed.');

const partsOf = ({ endpoint, component }: Target, facts: TargetFacts) => [
  { what: `endpoint '${endpoint}'`, status: facts.endpointStatus, tags: facts.endpointTags },
  ...(component === undefined
    ? []
    : [{ what: `inference component '${component}'`, status: facts.componentStatus, tags: facts.componentTags ?? {} }]),
];

const listed = (target: Target, facts: TargetFacts): string =>
  partsOf(target, facts)
    .map(({ what }) => `the ${what}`)
    .join(' and ');

const checkExists = (target: Target, facts: TargetFacts): Finding => {
  const { endpoint, component, region } = target;
  const missing = partsOf(target, facts).find(({ status }) => status === undefined);
  if (missing) return failing(`The ${missing.what} does not exist in ${placeOf(region)}. Check its name and its region.`);
  if (component !== undefined && facts.componentEndpoint !== endpoint)
    return failing(
      `The inference component '${component}' is on the endpoint '${facts.componentEndpoint}', not on '${endpoint}'. Correct either name.`,
    );
  return passing(`Found ${listed(target, facts)} in SageMaker.`);
};

const checkTagged = (target: Target, facts: TargetFacts, tag: string): Finding => {
  const untagged = partsOf(target, facts).find(({ tags }) => tags[tag] !== 'true');
  if (untagged)
    return failing(`The ${untagged.what} has no tag '${tag}' with the value 'true'. Add the tag: Sluice can't invoke it otherwise.`);
  return passing(`Found the tag '${tag}' with the value 'true' on ${listed(target, facts)}.`);
};

// Statuses that change without anyone's action.
const TRANSIENT_STATUSES = new Set(['Creating', 'Updating', 'SystemUpdating', 'RollingBack']);

const checkInService = (target: Target, facts: TargetFacts): Finding => {
  const { what, status = '' } = partsOf(target, facts).find((part) => part.status !== 'InService') ?? {};
  if (what === undefined) return passing(`SageMaker reports InService for ${listed(target, facts)}.`);
  const advice = TRANSIENT_STATUSES.has(status)
    ? 'Wait until it is InService, then check again.'
    : 'See the reason in the SageMaker console.';
  return failing(`The ${what} is ${status}, not InService. ${advice}`);
};

type InTime = <Found>(step: () => Promise<Found>, tooLate: Found) => Promise<Found>;

interface CheckedTarget extends TargetReport {
  promptTokens: number | undefined;
  structured: StructuredReport;
}

const unknown = ({ detail }: Finding): StructuredReport => ({ works: null, detail });

const checkTarget = async (deps: TargetCheckDependencies, model: Model, target: Target, inTime: InTime): Promise<CheckedTarget> => {
  const probing = { invoke: deps.invoke, now: deps.now, timeoutMs: deps.probeTimeoutMs ?? PROBE_TIMEOUT_MS };
  let facts: TargetFacts = { endpointStatus: undefined, endpointTags: {} };
  const steps: Record<CheckName, () => Finding | Promise<Finding>> = {
    exists: async () => {
      facts = await deps.facts.describe(target);
      return checkExists(target, facts);
    },
    tagged: () => checkTagged(target, facts, deps.endpointTag),
    in_service: () => checkInService(target, facts),
    answers: () =>
      model.task === 'generate'
        ? probeTarget(probing, model, target)
        : probePooling({ ...probing, invoke: deps.invokeWhole }, model, target),
  };
  const checks: Check[] = [];
  let promptTokens: number | undefined;
  for (const name of CheckName.options) {
    const finding = checks.every((check) => check.passed) ? await inTime(() => failIfInaccessible(steps[name]), TOO_LATE) : NOT_TRIED;
    checks.push({ name, passed: finding.passed, detail: finding.detail });
    promptTokens ??= finding.promptTokens;
  }
  const { endpoint, component = null, region = null } = target;
  const isReady = sendsSchemas(model) && checks.every(({ passed }) => passed);
  const structured = isReady ? await inTime(() => probeStructured(probing, model, target), unknown(TOO_LATE)) : unknown(NOT_TRIED);
  return { endpoint, component, region, checks, promptTokens, structured };
};

const failIfInaccessible = async (step: () => Finding | Promise<Finding>): Promise<Finding> => {
  try {
    return await step();
  } catch (error) {
    if (error instanceof TargetInaccessible) return failing(error.message);
    throw error;
  }
};

// A tokenizer that is out of reach fails its own check, not those of the targets.
const checkFiles = async ({ tokenizer }: TargetCheckDependencies, { name, task }: Model, files: TokenizerFiles): Promise<Finding> => {
  try {
    return await checkTokenizer({ tokenizer }, { files, model: name, task });
  } catch (error) {
    if (!(error instanceof FunctionUnavailable)) throw error;
    return failing('The tokenizer is unavailable at the moment. Check again shortly.');
  }
};

// Callers are billed for the containers' counts, so the tokenizer's must be equal.
const compareCounts = ({ task }: Model, { promptTokens, ...report }: Finding, targets: readonly CheckedTarget[]): TokenizerReport => {
  const other = targets.find((target) => target.promptTokens !== undefined && target.promptTokens !== promptTokens);
  if (promptTokens === undefined || !other) return report;
  const [what, files] =
    task === 'generate' ? ['a conversation with one short message', 'tokenizer and the chat template'] : ['a short text', 'tokenizer'];
  return failing(
    `The tokenizer counted ${promptTokens} tokens in ${what}, but the container on '${other.endpoint}' counted ${other.promptTokens}. Register the ${files} that the container uses.`,
  );
};

/**
 * Checks that a model can be served: looks up each target, requests one token, vector or score from it through the
 * code that sends callers' requests, compares the container's count of the prompt with the tokenizer's, and tries a
 * JSON Schema. Nothing is billed.
 * @throws SageMakerUnavailable (503) if the targets cannot be looked up
 */
export const checkTargets = async (deps: TargetCheckDependencies, model: Model): Promise<RegistrationReport> => {
  const { totalTimeoutMs = TOTAL_TIMEOUT_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve(LATE);
    }, totalTimeoutMs);
  });
  const inTime: InTime = async (step, tooLate) => {
    const found = isLate ? LATE : await Promise.race([late, step()]);
    return found === LATE ? tooLate : found;
  };
  try {
    return await checkAll(deps, model, inTime);
  } finally {
    clearTimeout(timer);
  }
};

const checkAll = async (deps: TargetCheckDependencies, model: Model, inTime: InTime): Promise<RegistrationReport> => {
  const checked: CheckedTarget[] = [];
  const checkAt = async ([index, target]: [number, Target]): Promise<void> => {
    checked[index] = await checkTarget(deps, model, target, inTime);
  };
  const { tokenizer: files } = model;
  const [failures, counted] = await Promise.all([
    inParallel([...model.targets.entries()], MAX_AT_ONCE, checkAt),
    files ? inTime(() => checkFiles(deps, model, files), TOO_LATE) : null,
  ]);
  if (failures.length > 0) throw failures[0];
  const targets = checked.map(({ promptTokens: _, structured: _structured, ...report }) => report);
  const tokenizer = counted && compareCounts(model, counted, checked);
  const structured_outputs = sendsSchemas(model) ? decisive(checked.map(({ structured }) => structured)) : null;
  const areTrue = !model.capabilities.structured_outputs || structured_outputs?.works !== false;
  const passed = targets.every(({ checks }) => checks.every((check) => check.passed)) && (tokenizer?.passed ?? true) && areTrue;
  return { targets, tokenizer, structured_outputs, passed };
};
