import * as z from 'zod';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import {
  addShadow,
  endShadow,
  MAX_SHADOW_PERCENT,
  MAX_SHADOW_REQUESTS,
  MAX_SHADOW_SECONDS,
  MAX_SHADOW_TOKENS,
  MIN_SHADOW_SECONDS,
  openShadow,
  type Shadow,
  type ShadowSettings,
} from '../../../../shared/deployments/shadow.ts';
import { InvalidValue } from '../../../../shared/http/errors.ts';
import { WrongState } from '../errors.ts';

const DEFAULT_REQUESTS = 1_000;
const DEFAULT_TOKENS = 10_000_000;
const DEFAULT_SECONDS = 86_400;

/** The settings of a comparison, as an owner sends them. */
export const ShadowFields = z
  .strictObject({
    percent: z.int().min(1).max(MAX_SHADOW_PERCENT).meta({
      description: 'The share of the requests that are also sent to the new generation after their replies. Two at a time at most.',
    }),
    max_requests: z
      .int()
      .min(1)
      .max(MAX_SHADOW_REQUESTS)
      .default(DEFAULT_REQUESTS)
      .meta({ description: 'The comparison ends after them.' }),
    max_tokens: z.int().min(1).max(MAX_SHADOW_TOKENS).default(DEFAULT_TOKENS).meta({
      description:
        'The most tokens of prompts and answers together. The comparison ends with the first request that might need more. Nobody is charged for them.',
    }),
    max_seconds: z.int().min(MIN_SHADOW_SECONDS).max(MAX_SHADOW_SECONDS).default(DEFAULT_SECONDS).meta({
      description: 'How long it lasts, from when both generations serve.',
    }),
  })
  .nullable()
  .meta({
    description:
      'Also sends some requests to the new generation, and compares the answers: see `GET /v1/deployments/{id}/shadow`. Callers get the answers of the old generation, and `traffic_percent` is 0. null ends the comparison; the new generation goes on running.',
  });
export type ShadowFields = z.output<typeof ShadowFields>;

const isSame = (open: Shadow, settings: ShadowSettings, generation: number): boolean =>
  open.generation === generation &&
  open.percent === settings.percent &&
  open.max_requests === settings.max_requests &&
  open.max_tokens === settings.max_tokens &&
  open.max_seconds === settings.max_seconds;

/**
 * Begins or ends the comparison of a deployment's newest generation. The same settings again change nothing.
 * @param live the generations that get requests or will, oldest first
 * @throws 400, 409 without two of them
 */
export const changeShadow = (before: Deployment, settings: ShadowFields, live: readonly number[], nowMs: number): Deployment => {
  if (settings === null) return endShadow(before, 'owner', nowMs);
  if (before.serving.task !== 'generate') throw new InvalidValue('shadow', 'expected a deployment that generates text');
  const newest = live.at(-1);
  if (live.length < 2 || newest === undefined)
    throw new WrongState(
      'no_rollout',
      'The deployment has no new generation to compare. Send shadow with a new runtime, model, environment, adapters, accelerators or instance types, while the deployment is running.',
    );
  if (before.traffic_percent > 0)
    throw new InvalidValue('shadow', 'expected a new generation without traffic. Also send traffic_percent 0');
  const open = openShadow(before);
  return open && isSame(open, settings, newest) ? before : addShadow(before, settings, newest, nowMs);
};
