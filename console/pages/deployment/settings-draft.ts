import type { RequestBody } from '../../client/routes.ts';
import { namesIn } from '../../design/format/lists.ts';
import { isCount, linesOf, variablesIn } from '../deploy/deployment-draft.ts';
import type { Deployment } from '../deployments/deployment-state.ts';
import { linesOfWindows, WINDOWS_FAULT, windowsIn } from '../deployments/windows.ts';

type Update = RequestBody<'PATCH /v1/deployments/{id}'>;

/** The settings that apply at once. */
export type SettingsDraft = {
  minCopies: string;
  maxCopies: string;
  /** Seconds; empty: it never sleeps. */
  idle: string;
  /** Lines such as `mon-fri 08:00-18:00 Europe/Berlin 1`. */
  windows: string;
  concurrency: string;
  contextLength: string;
  /** Empty: it generates no text. */
  maxOutput: string;
};

export const SETTINGS_LABELS = {
  minCopies: 'Minimum copies',
  maxCopies: 'Maximum copies',
  idle: 'Sleep after (seconds)',
  windows: 'Stay awake in these windows',
  concurrency: 'Concurrent requests per copy',
  contextLength: 'Context length',
  maxOutput: 'Maximum output tokens',
} as const satisfies Record<keyof SettingsDraft, string>;

/** The settings of a deployment as their form edits them. */
export const settingsOf = (deployment: Deployment): SettingsDraft => ({
  minCopies: String(deployment.copies.min),
  maxCopies: String(deployment.copies.max),
  idle: String(deployment.scale_to_zero_after_seconds ?? ''),
  windows: linesOfWindows(deployment.schedule),
  concurrency: String(deployment.max_concurrency_per_copy),
  contextLength: String(deployment.context_length),
  maxOutput: String(deployment.max_output_tokens ?? ''),
});

/** The sizes that a deployment has: one that generates no text has no output. */
export const sizesOf = ({ task }: Pick<Deployment, 'task'>) =>
  task === 'generate' ? (['contextLength', 'maxOutput'] as const) : (['contextLength'] as const);

/** Why settings can't be sent. */
export const settingsFaults = (
  draft: SettingsDraft,
  deployment: Pick<Deployment, 'task'>,
): Partial<Record<keyof SettingsDraft, string>> => ({
  ...Object.fromEntries(
    (['minCopies', 'maxCopies', 'concurrency', ...sizesOf(deployment)] as const)
      .filter((name) => !isCount(draft[name]))
      .map((name) => [name, 'Enter a whole number of at least 1.']),
  ),
  ...(windowsIn(draft.windows) === undefined && { windows: WINDOWS_FAULT }),
});

/** The change of a deployment's settings: only those that differ. */
export const settingsChange = (draft: SettingsDraft, deployment: Deployment): Update => {
  const opened = settingsOf(deployment);
  const differs = (name: keyof SettingsDraft): boolean => draft[name] !== opened[name];
  const copies = {
    ...(differs('minCopies') && { min: Number(draft.minCopies) }),
    ...(differs('maxCopies') && { max: Number(draft.maxCopies) }),
  };
  return {
    ...(Object.keys(copies).length > 0 && { copies }),
    ...(differs('idle') && { scale_to_zero_after_seconds: draft.idle === '' ? null : Number(draft.idle) }),
    ...(differs('windows') && { schedule: windowsIn(draft.windows) ?? [] }),
    ...(differs('concurrency') && { max_concurrency_per_copy: Number(draft.concurrency) }),
    ...(differs('contextLength') && { context_length: Number(draft.contextLength) }),
    ...(differs('maxOutput') && { max_output_tokens: Number(draft.maxOutput) }),
  };
};

/** The settings of a generation. A change of one makes a new generation. */
export type RolloutDraft = {
  runtime: string;
  model: string;
  /** With commas between them, the preferred one first. */
  instanceTypes: string;
  accelerators: string;
  /** Lines of `NAME=value`. */
  environment: string;
  /** The highest rank of the adapters that it can load; empty: it loads none. */
  adapterRank: string;
  /** How many adapters are loaded at the same time. */
  adaptersLoaded: string;
  /** The share of requests that the new generation gets. */
  traffic: string;
};

export const ROLLOUT_LABELS = {
  runtime: 'Runtime',
  model: 'Model files',
  instanceTypes: 'Instance types',
  accelerators: 'Accelerators per copy',
  environment: 'Environment variables',
  adapterRank: 'Maximum adapter rank',
  adaptersLoaded: 'Maximum loaded adapters',
  traffic: 'Share of requests',
} as const satisfies Record<keyof RolloutDraft, string>;

/** The settings of a generation as the form of a rollout edits them. */
export const rolloutDraftOf = (deployment: Deployment): RolloutDraft => ({
  runtime: deployment.runtime,
  model: deployment.model,
  instanceTypes: deployment.instance_types.join(', '),
  accelerators: String(deployment.accelerators),
  environment: linesOf(deployment.environment),
  adapterRank: String(deployment.adapters?.max_rank ?? ''),
  adaptersLoaded: String(deployment.adapters?.max_loaded ?? 1),
  traffic: '100',
});

const loadsAdapters = ({ adapterRank }: RolloutDraft): boolean => adapterRank.trim() !== '';

/** Why a rollout can't be sent. */
export const rolloutFaults = (draft: RolloutDraft): Partial<Record<keyof RolloutDraft, string>> => ({
  ...(namesIn(draft.instanceTypes).length === 0 && { instanceTypes: 'Enter at least one instance type.' }),
  ...(!isCount(draft.accelerators) && { accelerators: 'Enter a whole number of at least 1.' }),
  ...(variablesIn(draft.environment) === undefined && { environment: 'Enter one NAME=value per line.' }),
  ...(loadsAdapters(draft) && !isCount(draft.adapterRank) && { adapterRank: 'Enter a whole number of at least 1, or leave this empty.' }),
  ...(loadsAdapters(draft) && !isCount(draft.adaptersLoaded) && { adaptersLoaded: 'Enter a whole number of at least 1.' }),
});

/** The share of a new generation that is compared with the old one before it answers anyone. */
export const COMPARED = '0';
const COMPARED_PERCENT = 10;

const adaptersOf = (draft: RolloutDraft): NonNullable<Update['adapters']> | null =>
  loadsAdapters(draft) ? { max_rank: Number(draft.adapterRank), max_loaded: Number(draft.adaptersLoaded) } : null;

/** The change that rolls out a new generation; undefined if it would run the same. */
export const rolloutChange = (draft: RolloutDraft, deployment: Deployment): Update | undefined => {
  const opened = rolloutDraftOf(deployment);
  const differs = (name: keyof RolloutDraft): boolean => draft[name].trim() !== opened[name];
  const change: Update = {
    ...(differs('runtime') && { runtime: draft.runtime }),
    ...(differs('model') && { model: draft.model.trim() }),
    ...(differs('instanceTypes') && { instance_types: namesIn(draft.instanceTypes) }),
    ...(differs('accelerators') && { accelerators: Number(draft.accelerators) }),
    ...(differs('environment') && { environment: variablesIn(draft.environment) ?? {} }),
    ...((differs('adapterRank') || (differs('adaptersLoaded') && loadsAdapters(draft))) && { adapters: adaptersOf(draft) }),
  };
  if (Object.keys(change).length === 0) return undefined;
  const compared = draft.traffic === COMPARED && { shadow: { percent: COMPARED_PERCENT } };
  return { ...change, traffic_percent: Number(draft.traffic), ...compared };
};
