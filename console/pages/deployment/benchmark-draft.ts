import type { RequestBody } from '../../client/routes.ts';
import { isDollars } from '../../design/format/amounts.ts';

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

const NOT_WHOLE = 'Enter a whole number, at least 1.';

/** The faults of what was typed, by field. Fields that are still empty have none. */
export const benchmarkFaults = ({ budget, firstTokenMs, betweenTokensMs, promptTokens, completionTokens }: BenchmarkDraft): Faults => ({
  ...(budget.trim() !== '' && !isDollars(budget.trim()) && { budget: 'Enter dollars, such as 2.50.' }),
  ...(!isWhole(firstTokenMs) && { firstTokenMs: NOT_WHOLE }),
  ...(!isWhole(betweenTokensMs) && { betweenTokensMs: NOT_WHOLE }),
  ...(promptTokens.trim() !== '' && !isWhole(promptTokens) && { promptTokens: NOT_WHOLE }),
  ...(completionTokens.trim() !== '' && !isWhole(completionTokens) && { completionTokens: NOT_WHOLE }),
  ...((promptTokens.trim() === '') !== (completionTokens.trim() === '') && {
    [promptTokens.trim() === '' ? 'promptTokens' : 'completionTokens']: 'Enter both lengths, or none.',
  }),
});

/** True if the form can be sent. */
export const canStart = (draft: BenchmarkDraft): boolean => draft.budget.trim() !== '' && Object.keys(benchmarkFaults(draft)).length === 0;

/** The request of a form. Without lengths, those of the deployment's own requests are sent. */
export const benchmarkOf = (draft: BenchmarkDraft): RequestBody<'POST /v1/deployments/{id}/benchmark'> => ({
  budget: draft.budget.trim(),
  goals: { ttft_p95_ms: Number(draft.firstTokenMs), inter_token_p95_ms: Number(draft.betweenTokensMs) },
  ...(draft.promptTokens.trim() !== '' && {
    mix: [{ prompt_tokens: Number(draft.promptTokens), completion_tokens: Number(draft.completionTokens) }],
  }),
  apply: draft.applies,
});
