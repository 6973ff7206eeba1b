import { evaluateTargets } from '../autoscaling/scaling.ts';
import { scalingOperations } from '../autoscaling/scaling-api.ts';
import type { ScalableTargets } from '../autoscaling/targets.ts';
import { createTimeline } from '../clock/timeline.ts';
import type { ServiceEvent } from '../event-bus.ts';
import { AwsError, type Operations, parseBody } from '../http/json-api.ts';
import { createLogGroups, type LogGroup } from '../logs/log-groups.ts';
import { logsOperations } from '../logs/logs-api.ts';
import { createEndpointQuotas } from '../quotas/endpoint-quotas.ts';
import { quotasOperations } from '../quotas/quotas-api.ts';
import { secretsOperations } from '../secrets/secrets-api.ts';
import { callFault } from './control-plane/call-fault.ts';
import { setCopies } from './control-plane/components.ts';
import { createFaults } from './control-plane/faults.ts';
import { createInstanceTime } from './control-plane/instance-time.ts';
import { sageMakerOperations } from './control-plane/operations.ts';
import { type Existing, existing } from './control-plane/proof.ts';
import { readyCopies } from './control-plane/records.ts';
import { keyOf } from './control-plane/requests/names.ts';
import { resourceName } from './control-plane/requests/resource-name.ts';
import { type ServingComponent, serving } from './control-plane/serving.ts';
import { DeploymentSettings, type DeploymentSettingsInput } from './control-plane/settings.ts';
import { settle } from './control-plane/settle.ts';
import type { AccountState } from './control-plane/state.ts';
import { taggingOperations } from './tagging-api.ts';

/** A response, or `lost`: the call was executed, and its caller receives nothing. */
export type AccountReply = { readonly kind: 'reply'; readonly status: number; readonly body: object } | { readonly kind: 'lost' };

/** Everything that a test may want to know of the account. */
export interface Proof extends Existing {
  scalable_targets: string[];
}

/**
 * The parts of an AWS account that deployments need, in memory: SageMaker's control plane, Application Auto Scaling,
 * CloudWatch Logs, Service Quotas and Secrets Manager. States change with the injected clock whenever the account is
 * called; there are no timers.
 */
export interface Account {
  /**
   * Performs a call of any of the services.
   * @param target the header `x-amz-target`
   * @param body in JSON
   */
  call(target: string, body: Buffer | string): AccountReply;
  /** Applies what is due by now. */
  advance(): void;
  /** True if nothing in it changes without a call. */
  isIdle(): boolean;
  /** Which components run which containers now. */
  serving(): ServingComponent[];
  /** Returns a component and whether one of its copies is ready; undefined: the endpoint has no such component. */
  findServing(endpoint: string, component: string): ServingComponent | undefined;
  hasEndpoint(endpoint: string): boolean;
  /** Counts an invocation of a component until the returned function is called. */
  beginInvocation(component: string): () => void;
  /** Replaces the settings; missing ones get their defaults. */
  configure(settings: DeploymentSettingsInput): void;
  /** The settings, with the remaining counts of the faults. */
  settings(): DeploymentSettings;
  proof(): Proof;
  /** Removes everything, and the settings. */
  reset(): void;
}

export interface AccountOptions {
  /** The clock, in milliseconds since the epoch. */
  now: () => number;
  settings?: DeploymentSettingsInput;
  /** Log groups beside those of containers. */
  logGroups?: readonly LogGroup[];
  /** Keeps the secrets. Default: they are in memory. */
  secretsFile?: string | undefined;
  /** Receives the events that SageMaker sends to EventBridge. */
  onEvent?: (event: ServiceEvent) => void;
}

export const createAccount = ({
  now,
  settings: initial = {},
  logGroups,
  secretsFile,
  onEvent = () => undefined,
}: AccountOptions): Account => {
  let settings = DeploymentSettings.parse(initial);
  const targets: ScalableTargets = new Map();
  const invocations = new Map<string, number>();
  const afterEach = (): void => {
    settle(state);
    evaluateTargets({ targets, components, timeline: state.timeline, times: () => settings.times });
  };
  const state: AccountState = {
    timeline: createTimeline(now, () => afterEach()),
    settings: () => settings,
    faults: createFaults(),
    logs: createLogGroups(logGroups),
    quotas: createEndpointQuotas(),
    instanceTime: createInstanceTime(),
    models: new Map(),
    configs: new Map(),
    endpoints: new Map(),
    components: new Map(),
    created: new Map(),
    sequence: 0,
    emit: onEvent,
  };
  const components = {
    find(name: string) {
      const component = state.components.get(keyOf(name));
      if (!component) return undefined;
      return {
        isIdle: component.status === 'InService',
        desiredCopies: component.desiredCopies,
        currentCopies: readyCopies(component).length,
        concurrency: invocations.get(keyOf(name)) ?? 0,
      };
    },
    setDesiredCopies(name: string, copies: number) {
      const component = state.components.get(keyOf(name));
      if (component) setCopies(state, component, copies);
    },
  };
  const operations: Operations = new Map([
    ...sageMakerOperations(state),
    ...scalingOperations(targets, components, () => state.timeline.time()),
    ...logsOperations(state.logs),
    ...quotasOperations(state.quotas),
    ...secretsOperations(secretsFile),
    ...taggingOperations(state),
  ]);
  const configure = (next: DeploymentSettings): void => {
    settings = next;
    state.faults.set(next.faults);
    state.quotas.set(next.quotas);
  };
  configure(settings);

  const perform = (target: string, body: Buffer | string): AccountReply => {
    const input = parseBody(body);
    const run = operations.get(target);
    if (!run) throw new AwsError('UnknownOperationException', `The local run does not support ${target}.`);
    const operation = target.slice(target.indexOf('.') + 1);
    const fault = state.faults.claimCall(operation, resourceName(input));
    if (fault !== undefined && fault !== 'lost_reply') throw callFault(fault, operation, resourceName(input));
    const reply = replyOr(() => ({ kind: 'reply', status: 200, body: run(input) }));
    afterEach();
    return fault === 'lost_reply' ? { kind: 'lost' } : reply;
  };

  return {
    call(target, body) {
      state.timeline.advance();
      return replyOr(() => perform(target, body));
    },
    advance: () => state.timeline.advance(),
    isIdle: () => state.endpoints.size === 0 && state.components.size === 0 && state.timeline.isEmpty(),
    serving: () => serving(state),
    findServing(endpoint, component) {
      state.timeline.advance();
      return serving(state).find((other) => keyOf(other.endpoint) === keyOf(endpoint) && keyOf(other.component) === keyOf(component));
    },
    hasEndpoint(endpoint) {
      state.timeline.advance();
      return state.endpoints.has(keyOf(endpoint));
    },
    beginInvocation(component) {
      const key = keyOf(component);
      const count = (delta: number): void => {
        state.timeline.advance();
        invocations.set(key, (invocations.get(key) ?? 0) + delta);
        afterEach();
      };
      count(1);
      let hasEnded = false;
      return () => {
        if (!hasEnded) count(-1);
        hasEnded = true;
      };
    },
    configure(next) {
      state.timeline.advance();
      configure(DeploymentSettings.parse(next));
    },
    settings: () => ({ ...settings, faults: state.faults.remaining() }),
    proof() {
      state.timeline.advance();
      return { ...existing(state), scalable_targets: [...targets.values()].map(({ component }) => component) };
    },
    reset() {
      for (const map of [state.models, state.configs, state.endpoints, state.components, state.created, targets, invocations]) map.clear();
      state.timeline.clear();
      state.logs.clear();
      state.instanceTime.clear();
      configure(DeploymentSettings.parse({}));
    },
  };
};

const replyOr = (run: () => AccountReply): AccountReply => {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return { kind: 'reply', status: error.status, body: { __type: error.type, message: error.message } };
  }
};
