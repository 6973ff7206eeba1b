import { isDeepStrictEqual } from 'node:util';
import {
  bucketOf,
  FINISH_REASONS,
  type FinishReason,
  type ShadowCounts,
  type ShadowSide,
  type Timing,
  type Validity,
} from '../../../shared/deployments/shadow-counts.ts';
import { matchesSchema } from '../json-schema/matches-schema.ts';
import { isSchemaObject } from '../json-schema/schema-fault.ts';
import type { ObservedAnswer } from './observe-answer.ts';

/** An answer with its times from the call of its target, in milliseconds. */
export interface TimedAnswer extends ObservedAnswer {
  firstTokenMs: number | undefined;
  durationMs: number;
}

// From the body of the request.
interface Demands {
  isDeterministic: boolean;
  // The JSON's schema; true: any object. Undefined: the request wants no JSON.
  schema: unknown;
  tools: ReadonlySet<unknown>;
}

const fieldOf = (value: unknown, name: string): unknown => (isSchemaObject(value) ? value[name] : undefined);

const demandsOf = ({ temperature, response_format: format, tools }: Readonly<Record<string, unknown>>): Demands => {
  const type = fieldOf(format, 'type');
  return {
    isDeterministic: temperature === 0,
    schema: type === 'json_schema' ? fieldOf(fieldOf(format, 'json_schema'), 'schema') : type === 'json_object' ? true : undefined,
    tools: new Set((Array.isArray(tools) ? tools : []).map((tool) => fieldOf(fieldOf(tool, 'function'), 'name'))),
  };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const validityOf = (serving: boolean, shadow: boolean): Validity =>
  serving ? (shadow ? 'both' : 'serving_only') : shadow ? 'shadow_only' : 'neither';

const schemaCounts = ({ schema }: Demands, serving: ObservedAnswer, shadow: ObservedAnswer): ShadowCounts => {
  // A call of a tool takes the place of the JSON.
  if (schema === undefined || serving.calls.length > 0 || shadow.calls.length > 0) return {};
  const [first, second] = [serving, shadow].map(({ text }) => {
    const value = parsed(text);
    return isSchemaObject(value) && matchesSchema(schema, value);
  });
  return first === undefined || second === undefined ? {} : { [`schema_${validityOf(first, second)}`]: 1 };
};

const toolCounts = ({ tools }: Demands, serving: ObservedAnswer, shadow: ObservedAnswer): ShadowCounts => {
  if (tools.size === 0 || (serving.calls.length === 0 && shadow.calls.length === 0)) return {};
  const hasValidCalls = ({ calls }: ObservedAnswer): boolean =>
    calls.length > 0 && calls.every((call) => tools.has(call.name) && isSchemaObject(parsed(call.arguments)));
  return { [`tools_${validityOf(hasValidCalls(serving), hasValidCalls(shadow))}`]: 1 };
};

const exactCounts = ({ isDeterministic }: Demands, serving: ObservedAnswer, shadow: ObservedAnswer): ShadowCounts => {
  if (!isDeterministic) return {};
  const isSame = serving.text === shadow.text && isDeepStrictEqual(serving.calls, shadow.calls);
  return { [isSame ? 'exact_same' : 'exact_different']: 1 };
};

const finishOf = (finishReason: string | undefined): FinishReason => FINISH_REASONS.find((each) => each === finishReason) ?? 'other';

const timeCounts = (side: ShadowSide, timing: Timing, ms: number | undefined): ShadowCounts =>
  ms === undefined ? {} : { [`${side}_${timing}_ms`]: Math.round(ms), [`${side}_${timing}_${bucketOf(ms)}`]: 1 };

const sideCounts = (
  side: ShadowSide,
  { firstTokenMs, durationMs, promptTokens, completionTokens, finishReason }: TimedAnswer,
): ShadowCounts => ({
  [`${side}_finish_${finishOf(finishReason)}`]: 1,
  ...(promptTokens !== undefined && { [`${side}_prompt_tokens`]: promptTokens }),
  ...(completionTokens !== undefined && { [`${side}_completion_tokens`]: completionTokens }),
  ...timeCounts(side, 'first_token', firstTokenMs),
  ...timeCounts(side, 'duration', durationMs),
});

/**
 * Compares the answers of two generations to the same request. Pure.
 * @param body what the runtime of the serving generation got
 * @returns only numbers, nothing of the content
 */
export const compareAnswers = (body: Readonly<Record<string, unknown>>, serving: TimedAnswer, shadow: TimedAnswer): ShadowCounts => {
  const demands = demandsOf(body);
  return {
    compared: 1,
    [serving.finishReason === shadow.finishReason ? 'finish_same' : 'finish_different']: 1,
    ...sideCounts('serving', serving),
    ...sideCounts('shadow', shadow),
    ...schemaCounts(demands, serving, shadow),
    ...toolCounts(demands, serving, shadow),
    ...exactCounts(demands, serving, shadow),
  };
};
