import * as z from 'zod';
import { DAY_SECONDS } from '../time/units.ts';

/** Requests that are also sent keep an environment of the function `inference` busy, so they are few. */
export const MAX_SHADOW_PERCENT = 25;
export const MAX_SHADOW_REQUESTS = 10_000;
export const MAX_SHADOW_TOKENS = 1_000_000_000;
export const MIN_SHADOW_SECONDS = 60;
export const MAX_SHADOW_SECONDS = 7 * DAY_SECONDS;
/** A deployment keeps the newest. */
export const MAX_SHADOWS = 5;

/** How many requests are also sent to the next generation. */
export const ShadowSettings = z.object({
  percent: z.int().min(1).max(MAX_SHADOW_PERCENT),
  max_requests: z.int().min(1).max(MAX_SHADOW_REQUESTS),
  max_tokens: z.int().min(1).max(MAX_SHADOW_TOKENS),
  max_seconds: z.int().min(MIN_SHADOW_SECONDS).max(MAX_SHADOW_SECONDS),
});
export type ShadowSettings = z.infer<typeof ShadowSettings>;

/** Why no more requests are sent: its budget or its time is used up, or the deployment or its owner ended it. */
export const ShadowEnd = z.enum(['budget_used', 'time_over', 'owner', 'traffic_shifted', 'generation_ended', 'stopped']);
export type ShadowEnd = z.infer<typeof ShadowEnd>;

const UnixMs = z.int().min(0);

/** A comparison of a deployment's next generation with the one that serves, at rest. */
export const Shadow = ShadowSettings.extend({
  /** Counts the deployment's comparisons. It is never used again. */
  number: z.int().min(1),
  /** The generation that requests are also sent to. */
  generation: z.int().min(1),
  created_at: UnixMs,
  /** When both generations first served: its time counts from then on. */
  started_at: UnixMs.optional(),
  ended_at: UnixMs.optional(),
  end_reason: ShadowEnd.optional(),
});
export type Shadow = z.infer<typeof Shadow>;

interface Shadowed {
  shadows?: Shadow[] | undefined;
}

/** The comparison that has not ended; undefined if there is none. */
export const openShadow = ({ shadows = [] }: Shadowed): Shadow | undefined => {
  const newest = shadows.at(-1);
  return newest?.ended_at === undefined ? newest : undefined;
};

const replaceNewest = <Row extends Shadowed>(row: Row, newest: Shadow): Row => ({
  ...row,
  shadows: [...(row.shadows ?? []).slice(0, -1), newest],
});

/** The row with its comparison ended; the same row if there is none. */
export const endShadow = <Row extends Shadowed>(row: Row, end_reason: ShadowEnd, nowMs: number): Row => {
  const open = openShadow(row);
  return open ? replaceNewest(row, { ...open, ended_at: nowMs, end_reason }) : row;
};

/** The row with its comparison started, unless it is or there is none. */
export const startShadow = <Row extends Shadowed>(row: Row, nowMs: number): Row => {
  const open = openShadow(row);
  return open && open.started_at === undefined ? replaceNewest(row, { ...open, started_at: nowMs }) : row;
};

/** The number of the next comparison. */
export const nextShadowNumber = ({ shadows = [] }: Shadowed): number => (shadows.at(-1)?.number ?? 0) + 1;

/** The row with a new comparison. An open one ends. */
export const addShadow = <Row extends Shadowed>(row: Row, settings: ShadowSettings, generation: number, nowMs: number): Row => {
  const added: Shadow = { ...settings, number: nextShadowNumber(row), generation, created_at: nowMs };
  const ended = endShadow(row, 'owner', nowMs);
  return { ...ended, shadows: [...(ended.shadows ?? []), added].slice(-MAX_SHADOWS) };
};
