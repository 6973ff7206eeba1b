import * as z from 'zod';
import { plainReason } from '../../../shared/http/plain-reason.ts';
import { AdapterRefused } from './refused.ts';

const Rank = z.int().min(1).max(65_536);
const Absent = z.null().optional();

// The fields of PEFT's configuration on which vLLM depends: it loads plain LoRA only.
const PeftConfig = z.object({
  peft_type: z.literal('LORA', 'expected LORA'),
  r: Rank,
  rank_pattern: z.record(z.string(), Rank).nullish(),
  target_modules: z.union([z.string(), z.array(z.string()).min(1)]),
  use_dora: z.literal(false, 'expected false: DoRA is not supported').optional(),
  bias: z.literal('none', 'expected none').optional(),
  modules_to_save: z.union([Absent, z.tuple([])], 'expected none: an adapter can have no whole modules'),
});

const MAX_DETAIL_CHARACTERS = 120;

const textOf = (error: z.ZodError): string => {
  const [issue] = error.issues as [z.core.$ZodIssue];
  return `${issue.path.join('.') || 'the file'}: ${plainReason(issue.message)}`.slice(0, MAX_DETAIL_CHARACTERS);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new AdapterRefused('adapter_invalid', 'adapter_config.json is not JSON.');
  }
};

/** The highest rank of an adapter, from its `adapter_config.json`. @throws AdapterRefused */
export const readRank = (text: string, maxRank: number): number => {
  const read = PeftConfig.safeParse(parsed(text));
  if (!read.success) throw new AdapterRefused('adapter_invalid', `adapter_config.json can't be used: ${textOf(read.error)}.`);
  const { r, rank_pattern } = read.data;
  const rank = Math.max(r, ...Object.values(rank_pattern ?? {}));
  if (rank > maxRank) throw rankTooHigh(rank, maxRank);
  return rank;
};

/** An adapter has a higher rank than its deployment was started for. */
export const rankTooHigh = (rank: number, maxRank: number): AdapterRefused =>
  new AdapterRefused('adapter_rank_too_high', `The adapter's rank is ${rank}; the deployment's adapters.max_rank is ${maxRank}.`);
