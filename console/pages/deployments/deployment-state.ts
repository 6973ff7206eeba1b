import type { ReplyBody } from '../../client/routes.ts';
import type { Tone } from '../../design/data/tone.ts';
import { HOUR_S, MINUTE_S } from '../../design/format/units.ts';

export type Deployment = ReplyBody<'GET /v1/deployments/{id}'>;
export type DeploymentState = Deployment['state'];

interface StateFacts {
  tone?: Tone;
  /** True: it changes soon by itself. */
  isMoving?: true;
  /** The present state in words, and the answer that requests get. */
  now: string;
}

const STATES: Readonly<Record<DeploymentState, StateFacts>> = {
  pending: { tone: 'accent', isMoving: true, now: 'Its creation on AWS starts in a moment.' },
  creating: { tone: 'accent', isMoving: true, now: 'AWS is starting its instances. Then each copy downloads and loads the model.' },
  in_service: { tone: 'good', now: 'It answers requests.' },
  updating: {
    tone: 'accent',
    isMoving: true,
    now: 'A new generation is starting. The old one answers all requests until the new one is ready.',
  },
  draining: {
    tone: 'warn',
    isMoving: true,
    now: 'It has no copies, but its instances keep running and costing money until AWS releases them. A request wakes it.',
  },
  scaled_to_zero: { now: 'It is asleep and costs nothing. The next request wakes it.' },
  waking: {
    tone: 'accent',
    isMoving: true,
    now: 'It is waking up. Requests get a 503 with a time to retry after, or wait if they ask to.',
  },
  stopping: { tone: 'warn', isMoving: true, now: 'Its AWS resources are being removed. Its settings are kept.' },
  stopped: { now: 'It is stopped and costs nothing. Requests get a 503 until someone starts it.' },
  deleting: { tone: 'warn', isMoving: true, now: 'Its AWS resources are being removed. Then its name can be used again.' },
  deleted: { now: 'It is deleted. None of its AWS resources remain.' },
  failed: { tone: 'bad', now: 'It has failed. Requests get a 503 until a retry succeeds.' },
};

// A newer release can have more states.
const factsOf = (state: DeploymentState): StateFacts => STATES[state] ?? { now: 'This page does not know its state. Reload the page.' };

/** The states that a list can be filtered by. */
export const LISTED_STATES = (Object.keys(STATES) as DeploymentState[]).filter((state) => state !== 'deleted');

export const toneOf = (state: DeploymentState): Tone | undefined => factsOf(state).tone;

/** One or two sentences on what a deployment in this state does now. */
export const nowOf = (state: DeploymentState): string => factsOf(state).now;

/** True for a deployment that changes soon by itself. */
export const isMoving = ({ state }: Pick<Deployment, 'state'>): boolean => factsOf(state).isMoving === true;

/** True if a request or a change of its settings wakes it. */
export const isAsleep = ({ state }: Pick<Deployment, 'state'>): boolean => state === 'scaled_to_zero' || state === 'draining';

export type Action = 'stop' | 'start' | 'retry' | 'wake' | 'delete';

/** The actions that the state of a deployment allows. */
export const actionsFor = ({ state }: Pick<Deployment, 'state'>): Action[] => {
  if (state === 'deleting' || state === 'deleted') return [];
  if (state === 'stopped' || state === 'stopping') return ['start', 'delete'];
  if (state === 'failed') return ['retry', 'stop', 'delete'];
  return [...(isAsleep({ state }) ? (['wake'] as const) : []), 'stop', 'delete'];
};

/** The generations of a rollout that isn't finished: the old one and the new one. */
export const rolloutOf = ({ generations }: Pick<Deployment, 'generations'>) => {
  const live = generations.filter(({ status }) => status === 'creating' || status === 'ready');
  const [old, next] = live.slice(-2);
  return old && next ? { old, next } : undefined;
};

const STARTS: readonly DeploymentState[] = ['pending', 'creating', 'waking'];

/**
 * The seconds from the beginning of the last start in a history until it was in service; undefined if there was none.
 */
export const lastStartSeconds = (history: Deployment['history']): number | undefined => {
  const end = history.findLastIndex(({ state }, i) => state === 'in_service' && STARTS.includes(history[i - 1]?.state ?? 'failed'));
  if (end < 0) return undefined;
  let begin = end;
  while (STARTS.includes(history[begin - 1]?.state ?? 'failed')) begin--;
  return (history[end]?.at ?? 0) - (history[begin]?.at ?? 0);
};

/**
 * When a deployment that starts is expected to answer, in Unix seconds; undefined if nothing predicts it.
 * @param estimated the time that its creation estimated
 */
export const expectedAt = ({ state, state_since, wake, history }: Deployment, estimated: number | undefined): number | undefined => {
  if (wake) return wake.expected_at;
  if (state !== 'pending' && state !== 'creating') return undefined;
  if (estimated !== undefined) return estimated;
  const seconds = lastStartSeconds(history);
  return seconds === undefined ? undefined : state_since + seconds;
};

/** A model in a few words: its id on the Hub, or the last part of its folder. */
export const shortModel = (model: string): string =>
  model.startsWith('s3://') ? (model.replace(/\/+$/, '').split('/').at(-1) ?? model) : model;

/** A duration that is known only about, rounded up to whole minutes or hours. */
export const roughly = (seconds: number): string => {
  if (seconds < MINUTE_S) return `${Math.ceil(seconds)} s`;
  return seconds < 2 * HOUR_S ? `${Math.ceil(seconds / MINUTE_S)} min` : `${Math.ceil(seconds / HOUR_S)} h`;
};
