import type { RequestBody } from '../../client/routes.ts';
import { faultOfMoney, toUnits } from '../../design/format/amounts.ts';

/** The form of a benchmark: text as it is typed. */
export interface BenchmarkDraft {
  budget: string;
  firstTokenMs: string;
  betweenTokensMs: string;
  promptTokens: string;
  completionTokens: string;
  applies: boolean;
}

export const FIRST_BENCHMARK: BenchmarkDraft = {
  budget: '',
  firstTokenMs: '2000',
  betweenTokensMs: '100',
  promptTokens: '',
  completionTokens: '',
  applies: true,
};

type Faults = Partial<Record<keyof BenchmarkDraft, string>>;

const isWhole = (text: string): boolean => /^[1-9]\d{0,6}$/.test(text.trim());

const NOT_WHOLE = 'Enter a whole number of at least 1.';

/** The faults of what was typed, by field. Fields that are still empty have none. */
export const benchmarkFaults = ({ budget, firstTokenMs, betweenTokensMs, promptTokens, completionTokens }: BenchmarkDraft): Faults => {
  const budgetFault = faultOfMoney(budget.trim(), '2.50');
  return {
    ...(budgetFault && { budget: budgetFault }),
    ...(!isWhole(firstTokenMs) && { firstTokenMs: NOT_WHOLE }),
    ...(!isWhole(betweenTokensMs) && { betweenTokensMs: NOT_WHOLE }),
    ...(promptTokens.trim() !== '' && !isWhole(promptTokens) && { promptTokens: NOT_WHOLE }),
    ...(completionTokens.trim() !== '' && !isWhole(completionTokens) && { completionTokens: NOT_WHOLE }),
    ...((promptTokens.trim() === '') !== (completionTokens.trim() === '') && {
      [promptTokens.trim() === '' ? 'promptTokens' : 'completionTokens']: 'Enter both lengths or neither.',
    }),
  };
};

/** True if the form can be sent. */
export const canStart = (draft: BenchmarkDraft): boolean => draft.budget.trim() !== '' && Object.keys(benchmarkFaults(draft)).length === 0;

/** The request of a form. Without lengths, the API takes those of the deployment's own requests. */
export const benchmarkOf = (draft: BenchmarkDraft): RequestBody<'POST /v1/deployments/{id}/benchmark'> => ({
  budget: draft.budget.trim(),
  goals: { ttft_p95_ms: Number(draft.firstTokenMs), inter_token_p95_ms: Number(draft.betweenTokensMs) },
  ...(draft.promptTokens.trim() !== '' && {
    mix: [{ prompt_tokens: Number(draft.promptTokens), completion_tokens: Number(draft.completionTokens) }],
  }),
  apply: draft.applies,
});

const HOUR_MS = 3_600_000n;

/** How long a budget pays for the instances that run now; undefined: they are free. */
export const boughtMs = (budget: string, pricePerHour: string): number | undefined => {
  const price = toUnits(pricePerHour);
  return price <= 0n ? undefined : Number((toUnits(budget) * HOUR_MS) / price);
};

/** True if a budget can't pay for a level of the sweep, so that the API rejects it. */
export const isTooLittle = (budget: string, leastBudget: string): boolean => toUnits(budget) < toUnits(leastBudget);

interface Lengths {
  prompt_tokens: number;
  completion_tokens: number;
  weight: number;
}

/** The mean lengths of the requests to send, in whole tokens. */
export const meanLengths = (mix: readonly Lengths[]): { prompt: number; completion: number } => {
  const weights = mix.reduce((sum, { weight }) => sum + weight, 0);
  const meanOf = (tokensOf: (one: Lengths) => number): number =>
    Math.round(mix.reduce((sum, one) => sum + tokensOf(one) * one.weight, 0) / Math.max(weights, 1));
  return { prompt: meanOf((one) => one.prompt_tokens), completion: meanOf((one) => one.completion_tokens) };
};

interface Measured<Point> {
  result: number | null;
  points: readonly Point[];
}

/** The point of a curve with the most requests at the same time that met the goals; undefined: none did. */
export const kneeOf = <Point extends { concurrency_per_copy: number }>({ result, points }: Measured<Point>): Point | undefined =>
  points.find(({ concurrency_per_copy: at }) => at === result);

/** How a rate of tokens differs from what was measured earlier. */
export const driftText = (percent: number): string =>
  percent === 0 ? 'same speed' : `${Math.abs(percent)}% ${percent < 0 ? 'slower' : 'faster'}`;
