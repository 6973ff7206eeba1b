import { MAX_MIX, type MixEntry } from '../../../../shared/deployments/benchmark.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { idLike } from '../../../../shared/ids/id.ts';
import type { RequestRow } from '../../../../shared/observability/request-row.ts';
import type { RequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';

const MIX_DAYS = 7;
const MAX_ROWS = 500;
const MAX_READ = 5_000;

const logOf = (tokens: number): number => Math.floor(Math.log2(tokens));
const meanOf = (values: readonly number[]): number => Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);

type Lengths = Pick<RequestRow, 'prompt_tokens' | 'completion_tokens'>;

// Requests whose prompts and answers are within the same powers of two become one kind. The most frequent are kept.
const mixOf = (requests: readonly Lengths[]): MixEntry[] => {
  const kinds = Map.groupBy(requests, ({ prompt_tokens, completion_tokens }) => `${logOf(prompt_tokens)}/${logOf(completion_tokens)}`);
  return [...kinds.values()]
    .sort((one, other) => other.length - one.length)
    .slice(0, MAX_MIX)
    .map((kind) => ({
      prompt_tokens: meanOf(kind.map((row) => row.prompt_tokens)),
      completion_tokens: meanOf(kind.map((row) => row.completion_tokens)),
      weight: kind.length,
    }));
};

/**
 * The lengths of the last requests of a deployment's organization for it, without their content; none if there are
 * none. Those of its benchmarks don't count.
 */
export const ownMix = async (
  requestRows: Pick<RequestRowStore, 'page'>,
  { id, organization, serving }: Deployment,
  nowMs: number,
): Promise<MixEntry[]> => {
  const ofBenchmarks = idLike('key', id);
  const matches = ({ deployment, outcome, key_id, prompt_tokens, completion_tokens }: RequestRow): boolean =>
    deployment === id &&
    outcome === 'completed' &&
    key_id !== ofBenchmarks &&
    prompt_tokens > 0 &&
    completion_tokens > 0 &&
    completion_tokens <= serving.max_output_tokens &&
    prompt_tokens + completion_tokens <= serving.context_length;
  const range = { organization, fromMs: nowMs - MIX_DAYS * DAY_MS, toMs: nowMs };
  const { rows } = await requestRows.page({ ...range, isFailed: false, matches, limit: MAX_ROWS, maxRead: MAX_READ });
  return mixOf(rows);
};
