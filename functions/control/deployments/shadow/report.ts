import * as z from 'zod';
import { type Deployment, isActive } from '../../../../shared/deployments/deployment.ts';
import type { Shadow } from '../../../../shared/deployments/shadow.ts';
import { FINISH_REASONS, SHADOW_FAILURES, type ShadowCounts, type ShadowSide } from '../../../../shared/deployments/shadow-counts.ts';
import type { ShadowRow, ShadowStore } from '../../../../shared/deployments/shadow-store.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';
import type { Actor } from '../../access/actor.ts';
import { type DeploymentReads, visibleDeployment } from '../find-deployment.ts';
import { ShadowState, statusOf } from './state.ts';
import { timesOf } from './times.ts';
import { THRESHOLDS, verdictOf } from './verdict.ts';

const Count = z.int();
const TIME = 'Unix time in seconds.';

const Limits = z.object({ failed_percent: z.number(), less_valid_percent: z.number(), slower_percent: z.number() });
const Times = z.object({
  count: Count,
  mean_ms: Count.nullable(),
  p50_ms: Count.nullable().meta({ description: 'At most 19% above the exact value.' }),
  p95_ms: Count.nullable().meta({ description: 'At most 19% above the exact value.' }),
});
const ofSides = <Schema extends z.ZodType>(schema: Schema) => z.object({ serving: schema, shadow: schema });
const countsOf = <Name extends string>(names: readonly Name[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, Count])) as Record<Name, typeof Count>);
const VALIDITIES = ['both', 'serving_only', 'shadow_only', 'neither'] as const;
const SAMENESS = ['same', 'different'] as const;

/** The comparison of two generations of a deployment, on the wire. */
export const ShadowReport = z.object({
  object: z.literal('deployment.shadow'),
  deployment: z.string(),
  ...ShadowState.shape,
  created_at: Count.meta({ description: TIME }),
  started_at: Count.nullable().meta({ description: `When both generations first served. ${TIME}` }),
  ended_at: Count.nullable().meta({ description: TIME }),
  used_requests: Count,
  used_tokens: Count.meta({ description: 'Those of requests without an answer are the most that they could have used.' }),
  compared: Count.meta({ description: 'Requests with answers of both generations.' }),
  failed: countsOf(SHADOW_FAILURES).meta({
    description: 'Requests that only the serving generation has answered. `refused`: the new one rejected them.',
  }),
  time_to_first_token: ofSides(Times),
  duration: ofSides(Times),
  tokens: ofSides(z.object({ prompt: Count, completion: Count })),
  finish_reason: countsOf(SAMENESS).extend(ofSides(countsOf(FINISH_REASONS)).shape),
  json: countsOf(VALIDITIES).meta({
    description: 'Answers to requests for JSON, by which of them are valid. `pattern` and `format` of a schema are not checked.',
  }),
  tool_calls: countsOf(VALIDITIES).meta({
    description: 'Answers with a call on either side, by which have calls of offered tools with a JSON object as arguments.',
  }),
  exact_matches: countsOf(SAMENESS).meta({ description: 'Answers to requests with `temperature` 0: their text and their calls.' }),
  verdict: z.enum(['promote', 'roll_back', 'undecided']),
  reasons: z.array(z.string()),
  thresholds: z.object({ min_requests: Count, min_counted: Count, min_slower_ms: Count, promote: Limits, roll_back: Limits }),
  apply: z
    .object({ method: z.literal('PATCH'), path: z.string(), body: z.object({ traffic_percent: z.int() }) })
    .nullable()
    .meta({ description: 'The request that does it. Null: the verdict is undecided, or the rollout is over.' }),
});
export type ShadowReport = z.infer<typeof ShadowReport>;

export const ShadowQuery = z.strictObject({
  number: z.coerce.number().pipe(z.int().min(1)).optional().meta({
    description: 'One of the last five comparisons. Default: the last one.',
  }),
});
export type ShadowQuery = z.output<typeof ShadowQuery>;

export interface ShadowReads extends DeploymentReads {
  shadows: Pick<ShadowStore, 'read' | 'toCreate'>;
}

const secondsOrNull = (ms: number | undefined): number | null => (ms === undefined ? null : unixSeconds(ms));

const measuresOf = (counts: ShadowCounts) => {
  const count = (name: keyof ShadowCounts): number => counts[name] ?? 0;
  const named = <Name extends string>(names: readonly Name[], attribute: (name: Name) => keyof ShadowCounts): Record<Name, number> =>
    Object.fromEntries(names.map((name) => [name, count(attribute(name))])) as Record<Name, number>;
  const both = <Value>(of: (side: ShadowSide) => Value): Record<ShadowSide, Value> => ({ serving: of('serving'), shadow: of('shadow') });
  return {
    compared: count('compared'),
    failed: named(SHADOW_FAILURES, (failure) => `failed_${failure}`),
    time_to_first_token: both((side) => timesOf(counts, side, 'first_token')),
    duration: both((side) => timesOf(counts, side, 'duration')),
    tokens: both((side) => ({ prompt: count(`${side}_prompt_tokens`), completion: count(`${side}_completion_tokens`) })),
    finish_reason: {
      ...named(SAMENESS, (name) => `finish_${name}`),
      ...both((side) => named(FINISH_REASONS, (reason) => `${side}_finish_${reason}`)),
    },
    json: named(VALIDITIES, (name) => `schema_${name}`),
    tool_calls: named(VALIDITIES, (name) => `tools_${name}`),
    exact_matches: named(SAMENESS, (name) => `exact_${name}`),
  };
};

const NOTHING: ShadowRow = { requests: 0, tokens: 0, isUsedUp: false, counts: {} };

// Only the generation that is being rolled out can be promoted or rolled back.
const isUndecided = ({ generations, wanted }: Deployment, { generation }: Shadow): boolean => {
  const live = generations.filter(isActive);
  return wanted === 'running' && live.length > 1 && live.at(-1)?.number === generation;
};

/** Returns the comparison of a deployment's generations: only numbers, nothing of the content. @throws 404 */
export const shadowReport = async (deps: ShadowReads, actor: Actor, id: string, { number: wanted }: ShadowQuery): Promise<ShadowReport> => {
  const deployment = await visibleDeployment(deps, actor, id);
  const shadow = (deployment.shadows ?? []).findLast(({ number }) => wanted === undefined || number === wanted);
  if (!shadow)
    throw new ResourceNotFound('shadow', String(wanted ?? id), null, 'Start one: PATCH /v1/deployments/{id} with the field shadow.');
  const {
    number,
    generation,
    percent,
    max_requests,
    max_tokens,
    max_seconds,
    created_at,
    started_at,
    ended_at,
    end_reason = null,
  } = shadow;
  const { requests, tokens, counts } = (await deps.shadows.read(id, number)) ?? NOTHING;
  const { verdict, reasons } = verdictOf(counts);
  const isApplicable = verdict !== 'undecided' && isUndecided(deployment, shadow);
  return {
    object: 'deployment.shadow',
    deployment: id,
    ...{ number, generation, status: statusOf(shadow), end_reason, percent, max_requests, max_tokens, max_seconds },
    created_at: unixSeconds(created_at),
    started_at: secondsOrNull(started_at),
    ended_at: secondsOrNull(ended_at),
    used_requests: requests,
    used_tokens: tokens,
    ...measuresOf(counts),
    ...{ verdict, reasons, thresholds: THRESHOLDS },
    apply: isApplicable
      ? { method: 'PATCH', path: `/v1/deployments/${id}`, body: { traffic_percent: verdict === 'promote' ? 100 : 0 } }
      : null,
  };
};
