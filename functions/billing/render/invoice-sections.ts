import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { monthText } from './format-values.ts';
import { isCredit } from './invoice-totals.ts';

/** Lines of an invoice under a heading. */
export interface Section {
  heading: string;
  lines: InvoiceLine[];
}

const CREDIT = 'Credit';

// Other lines are among the totals.
const headingOf = ({ is_correction, month, kind, deployment }: InvoiceLine): string | undefined => {
  if (isCredit(kind)) return CREDIT;
  if (is_correction) return `Corrections for ${monthText(month)}`;
  switch (kind) {
    case 'tokens':
      return 'Models';
    case 'gpu_time':
      return 'Deployments';
    case 'metering_difference':
      return deployment === null ? 'Models' : 'Deployments';
    case 'adjustment':
      return 'Usage that was rated again';
    default:
      return undefined;
  }
};

/**
 * The charges and credits by heading: headings in the order of their first lines, credit last; lines in their order.
 */
export const sectionsOf = (lines: readonly InvoiceLine[]): Section[] => {
  const sections = new Map<string, InvoiceLine[]>();
  for (const line of lines) {
    const heading = headingOf(line);
    if (heading !== undefined) sections.set(heading, [...(sections.get(heading) ?? []), line]);
  }
  return [...sections]
    .map(([heading, found]) => ({ heading, lines: found }))
    .sort((one, other) => Number(one.heading === CREDIT) - Number(other.heading === CREDIT));
};
