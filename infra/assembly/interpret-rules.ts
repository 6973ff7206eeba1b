import * as z from 'zod';
import { compileFilter } from './event-filter.ts';
import type { EventRule, Schedule } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const RuleProperties = z.object({
  ScheduleExpression: z.string().optional(),
  EventPattern: z.record(z.string(), z.unknown()).optional(),
  State: z.string().default('ENABLED'),
  Targets: z.array(z.object({ Arn: z.string(), Input: z.string().optional() })).default([]),
});

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

interface Rules {
  schedules: readonly Schedule[];
  eventRules: readonly EventRule[];
}

/**
 * Reads an AWS::Events::Rule: one schedule or event rule per target. Throws an Error for an expression other than
 * `rate(…)`, a pattern with an operator that is not supported, and a rule with both or neither.
 */
export const interpretRule = (at: LocatedResource): Rules => {
  const { stack, logicalId, resolve } = at;
  const { ScheduleExpression, EventPattern, State, Targets } = readProperties(at, RuleProperties);
  const where = `${logicalId} in stack ${stack.name}`;
  const ruleArn = String(resolve(stack, { 'Fn::GetAtt': [logicalId, 'Arn'] }));
  if ((ScheduleExpression === undefined) === (EventPattern === undefined))
    throw new Error(`The local run supports rules with either a schedule or a pattern only (${where})`);
  if (State !== 'ENABLED') return { schedules: [], eventRules: [] };
  if (EventPattern !== undefined) {
    const matches = compileFilter(EventPattern, where);
    if (Targets.some(({ Input }) => Input !== undefined)) throw new Error(`The local run passes events on as they are only (${where})`);
    return { schedules: [], eventRules: Targets.map(({ Arn }) => ({ ruleArn, matches, functionArn: Arn })) };
  }
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(ScheduleExpression ?? '') ?? [];
  if (count === undefined || unit === undefined)
    throw new Error(`The local run supports rate(…) schedules only, not ${ScheduleExpression} (${where})`);
  const periodMs = Number(count) * (UNIT_MS[unit] ?? 0);
  const schedules = Targets.map(({ Arn, Input }) => ({
    ruleArn,
    periodMs,
    functionArn: Arn,
    input: Input === undefined ? undefined : JSON.parse(Input),
  }));
  return { schedules, eventRules: [] };
};
