import { fromUnits, sumOf, toUnits } from '../../design/format/amounts.ts';
import type { Invoice, InvoiceLine } from './invoice.ts';

/** The lines of a model or a deployment in a month, or those that are of neither. */
export interface LineGroup {
  key: string;
  name: string;
  /** The UTC month of the usage. */
  month: string;
  isCorrection: boolean;
  /** False: of taxes, credit or rounding. */
  isOfUsage: boolean;
  lines: readonly InvoiceLine[];
  /** The exact sum of the lines. */
  amount: string;
}

const NAMES: Partial<Record<InvoiceLine['kind'], string>> = {
  prepaid_credit: 'Prepaid credit',
  carried_forward: 'Carried forward',
  tax: 'Taxes',
  rounding: 'Rounding',
};

const nameOf = ({ kind, model, deployment, deployment_name }: InvoiceLine): string =>
  NAMES[kind] ?? deployment_name ?? deployment ?? model ?? 'Unknown model';

/** Groups the lines of an invoice by model or deployment, in the order in which the invoice has them. */
export const groupLines = (lines: readonly InvoiceLine[]): readonly LineGroup[] => {
  const groups = new Map<string, InvoiceLine[]>();
  for (const line of lines) {
    const key = JSON.stringify([nameOf(line), line.deployment, line.month, line.is_correction]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups].flatMap(([key, ofGroup]) => {
    const [first] = ofGroup;
    if (!first) return [];
    const { month, is_correction, kind } = first;
    return {
      key,
      name: nameOf(first),
      month,
      isCorrection: is_correction,
      isOfUsage: NAMES[kind] === undefined,
      lines: ofGroup,
      amount: sumOf(ofGroup.map(({ amount }) => amount)),
    };
  });
};

/** True if the lines add up to the total. */
export const addsUp = ({ lines, total }: Pick<Invoice, 'lines' | 'total'>): boolean =>
  toUnits(sumOf(lines.map(({ amount }) => amount))) === toUnits(total);

const DAY = 10;
const lastDayOf = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, DAY);
};

/**
 * The address of the usage records that a line charges; undefined for a line that charges none.
 * @param organization undefined: the reader's own
 */
export const recordsAddress = (line: InvoiceLine, organization: string | undefined): string | undefined => {
  const { kind, model, deployment, deployment_name, month } = line;
  if (NAMES[kind] !== undefined || (model === null && deployment === null)) return undefined;
  const isOfDeployment = deployment !== null;
  return `/exports?${new URLSearchParams({
    view: 'records',
    range: 'custom',
    from: `${month}-01`,
    to: lastDayOf(month),
    kind: isOfDeployment ? 'gpu_time_event' : 'usage_event',
    model: (isOfDeployment ? deployment_name : model) ?? '',
    ...(organization && { organization }),
  })}`;
};

/** The address of the chart of a month's costs. @param organization undefined: the reader's own */
export const usageAddress = (month: string, organization: string | undefined): string =>
  `/usage?${new URLSearchParams({ range: 'custom', from: `${month}-01`, to: lastDayOf(month), ...(organization && { organization }) })}`;

const WORDS = { prompt: 'Prompt tokens', cached_prompt: 'Cached prompt tokens', completion: 'Completion tokens' } as const;

/** A line as its group's table calls it. */
export const lineName = ({ kind, token_kind, deployment, instance_type, description, rerate_from }: InvoiceLine): string => {
  if (kind === 'tokens' && token_kind) return WORDS[token_kind];
  if (kind === 'metering_difference') return deployment === null ? 'Rounding per request' : 'Rounding per interval';
  if (kind === 'gpu_time') return `GPU time, ${instance_type ?? 'unknown instance type'}`;
  if (kind === 'adjustment' && rerate_from) return `Rerated, previously at ${rerate_from}`;
  return description;
};

/**
 * The rest of an invoice after some credit, or undefined if the credit is more than the rest before it, or no amount
 * with at most so many decimals.
 */
export const leftAfter = (left: string, credit: string, decimals: number): string | undefined => {
  const [amount, fraction = ''] = /^\d{1,12}(?:\.(\d+))?$/.exec(credit) ?? [];
  if (amount === undefined || fraction.length > decimals || toUnits(credit) === 0n || toUnits(credit) > toUnits(left)) return undefined;
  return fromUnits(toUnits(left) - toUnits(credit));
};
