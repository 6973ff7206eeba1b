import type { AppliedLimits } from '../../../functions/control/limits/limits.ts';

const textsOf = ({ requests_per_minute, tokens_per_minute, concurrency, month_budget, prepaid }: AppliedLimits) => ({
  'requests per minute': requests_per_minute === null ? 'none' : String(requests_per_minute),
  'tokens per minute': tokens_per_minute === null ? 'none' : String(tokens_per_minute),
  concurrency: String(concurrency),
  'month budget': month_budget ?? 'none',
  prepaid: prepaid ? 'yes' : 'no',
});

/** Describes the limits of an organization, each in a line, with the earlier value of those that have changed. */
export const describeLimits = (before: AppliedLimits, after: AppliedLimits): string => {
  const earlier = textsOf(before);
  return Object.entries(textsOf(after))
    .map(([name, text]) => {
      const was = earlier[name as keyof typeof earlier];
      return `  ${name}: ${text}${was === text ? '' : ` (was ${was})`}`;
    })
    .join('\n');
};
