import { isMoney, MOST_PER_UNIT } from '../../design/format/amounts.ts';
import { type RangeName, rangeOf } from '../../design/format/ranges.ts';
import { formatDay } from '../../design/format/times.ts';
import { DAY_S } from '../../design/format/units.ts';

/** The parameters of the address that the screen reads. */
export const ECONOMICS_NAMES = ['range', 'from', 'to', 'organization', 'prompt', 'completion'] as const;
type EconomicsValues = Readonly<Record<(typeof ECONOMICS_NAMES)[number], string>>;

/** The ranges of time that the screen offers. */
export const ECONOMICS_RANGES = ['month', 'last_month', '30d', '90d', 'custom'] as const satisfies readonly RangeName[];

/**
 * The query of an address: whole UTC days with today, of which a custom range's last one counts. Prices of another
 * provider are compared with if both are complete.
 */
export const economicsQuery = (range: RangeName, values: EconomicsValues, nowS: number) => {
  const { startS = nowS - 30 * DAY_S, endS } = rangeOf(range, values, nowS);
  const end = endS === undefined ? nowS + DAY_S : range === 'custom' ? endS + DAY_S : endS;
  const { organization, prompt, completion } = values;
  return {
    from: formatDay(startS),
    to: formatDay(end),
    organization,
    ...([prompt, completion].every((price) => isMoney(price, MOST_PER_UNIT)) && { list_prompt: prompt, list_completion: completion }),
  };
};
