import { amountLine, sumLines, WITHOUT_USAGE } from '../../../shared/billing/amounts/amount-line.ts';
import { divideRounded } from '../../../shared/billing/amounts/divide-rounded.ts';
import { type InvoiceLine, LineKind, TokenKind } from '../../../shared/billing/invoice.ts';
import type { ChargeGroup } from './charge-group.ts';
import type { InvoicePrices } from './invoice-prices.ts';

const MILLION = 1_000_000n;
const HOUR_SECONDS = 3_600n;

/** The month of some lines: the invoice's own, or an earlier one that they correct. */
export interface LinePeriod {
  month: string;
  isCorrection: boolean;
}

const subjectOf = ({ model, deployment, deployment_name }: ChargeGroup): string =>
  deployment === null ? (model ?? 'Unknown model') : (deployment_name ?? deployment);

const WORDS: Record<TokenKind, string> = {
  prompt: 'prompt tokens',
  cached_prompt: 'cached prompt tokens',
  completion: 'completion tokens',
};

const lineOf = (
  group: ChargeGroup,
  { month, isCorrection }: LinePeriod,
  words: string,
  line: Partial<InvoiceLine> & Pick<InvoiceLine, 'kind' | 'amount_nanos'>,
): InvoiceLine => {
  const { model, deployment, deployment_name, instance_type, price_version } = group;
  const names = { model, deployment, deployment_name, instance_type, price_version };
  const description = `${isCorrection ? `Correction for ${month}: ` : ''}${subjectOf(group)}, ${words}`;
  return { ...WITHOUT_USAGE, month, is_correction: isCorrection, ...names, description, ...line };
};

const REQUEST_DIFFERENCE = 'difference to the sum of all requests';
const gpuTimeOn = (instanceType: string | null): string => `GPU time on ${instanceType}`;
const gpuDifferenceOn = (instanceType: string | null): string => `${gpuTimeOn(instanceType)}, difference to the sum of all intervals`;

/** The description that release 0.1.0 gave to a line. */
export const descriptionOfFirstRelease = ({ description, instance_type }: InvoiceLine): string =>
  description.replace(gpuDifferenceOn(instance_type), REQUEST_DIFFERENCE);

// The events' exact cost beyond quantity × unit price: each is rounded, and costs at most what was held for it.
const differenceLine = (group: ChargeGroup, period: LinePeriod, lines: readonly InvoiceLine[]): InvoiceLine[] => {
  const amount_nanos = group.cost_nanos - sumLines(lines);
  if (amount_nanos === 0n) return [];
  const words = group.deployment === null ? REQUEST_DIFFERENCE : gpuDifferenceOn(group.instance_type);
  return [lineOf(group, period, words, { kind: 'metering_difference', amount_nanos })];
};

const tokenLines = (group: ChargeGroup, period: LinePeriod, prices: InvoicePrices): InvoiceLine[] => {
  const price = prices.tokens(group.model, group.price_version);
  if (!price) {
    const quantity = group.prompt_tokens + group.cached_tokens + group.completion_tokens;
    if (quantity === 0n && group.cost_nanos === 0n) return [];
    return [lineOf(group, period, 'tokens', { kind: 'tokens', quantity, unit: 'token', amount_nanos: group.cost_nanos })];
  }
  const quantities = [
    ['prompt', group.prompt_tokens, price.prompt_nanos],
    ['cached_prompt', group.cached_tokens, price.cached_prompt_nanos],
    ['completion', group.completion_tokens, price.completion_nanos],
  ] as const;
  const lines = quantities
    .filter(([, quantity]) => quantity !== 0n)
    .map(([token_kind, quantity, unit_price_nanos]) => {
      const amount_nanos = divideRounded(quantity * unit_price_nanos, MILLION);
      return lineOf(group, period, `${price.is_surcharge ? 'adapter surcharge on ' : ''}${WORDS[token_kind]}`, {
        kind: 'tokens',
        token_kind,
        quantity,
        unit: 'token',
        unit_price_nanos,
        amount_nanos,
      });
    });
  return [...lines, ...differenceLine(group, period, lines)];
};

const gpuLines = (group: ChargeGroup, period: LinePeriod, prices: InvoicePrices): InvoiceLine[] => {
  const { instance_seconds: quantity, cost_nanos, instance_type } = group;
  const unit_price_nanos = prices.instanceHour(instance_type, group.price_version);
  if (quantity === 0n && cost_nanos === 0n) return [];
  const amount_nanos = unit_price_nanos === null ? cost_nanos : divideRounded(quantity * unit_price_nanos, HOUR_SECONDS);
  const line = lineOf(group, period, gpuTimeOn(instance_type), {
    kind: 'gpu_time',
    quantity,
    unit: 'second',
    unit_price_nanos,
    amount_nanos,
  });
  return [...(quantity === 0n ? [] : [line]), ...differenceLine(group, period, quantity === 0n ? [] : [line])];
};

const adjustmentLines = (group: ChargeGroup, period: LinePeriod): InvoiceLine[] => {
  if (group.cost_nanos === 0n) return [];
  const { rerate_from, price_version, cost_nanos: amount_nanos } = group;
  return [lineOf(group, period, `price ${rerate_from} corrected to ${price_version}`, { kind: 'adjustment', rerate_from, amount_nanos })];
};

const linesOfGroup = (group: ChargeGroup, period: LinePeriod, prices: InvoicePrices): InvoiceLine[] => {
  if (group.rerate_from !== null) return adjustmentLines(group, period);
  return group.deployment === null ? tokenLines(group, period, prices) : gpuLines(group, period, prices);
};

/**
 * The lines of a month's groups. The lines of each group add up to the exact cost of its events; a last line subtracts
 * the part paid from credit.
 * @param groups for a correction: the differences to what was billed before
 */
export const usageLines = (groups: readonly ChargeGroup[], period: LinePeriod, prices: InvoicePrices): InvoiceLine[] => {
  const lines = groups.flatMap((group) => linesOfGroup(group, period, prices));
  const prepaid = groups.reduce((sum, { prepaid_nanos }) => sum + prepaid_nanos, 0n);
  if (prepaid === 0n) return sortLines(lines);
  const description = `${period.isCorrection ? `Correction for ${period.month}: paid` : 'Paid'} from prepaid credit`;
  const line = { ...amountLine('prepaid_credit', description, period.month, -prepaid), is_correction: period.isCorrection };
  return sortLines([...lines, line]);
};

const orderOf = (line: InvoiceLine): string =>
  JSON.stringify([
    LineKind.options.indexOf(line.kind),
    line.deployment_name ?? line.model ?? '',
    line.deployment ?? '',
    line.instance_type ?? '',
    line.price_version ?? '',
    line.token_kind === null ? 0 : 1 + TokenKind.options.indexOf(line.token_kind),
    line.description,
  ]);

const sortLines = (lines: readonly InvoiceLine[]): InvoiceLine[] =>
  lines
    .map((line) => [orderOf(line), line] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, line]) => line);
