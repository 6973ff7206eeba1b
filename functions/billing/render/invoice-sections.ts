import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { monthText } from './printed.ts';

/** Lines of an invoice under a heading. */
export interface Section {
  heading: string;
  lines: InvoiceLine[];
}

const headingOf = ({ is_correction, month, kind, deployment }: InvoiceLine): string => {
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
    case 'prepaid_credit':
    case 'carried_forward':
      return 'Credit';
    case 'tax':
      return 'Taxes';
    case 'rounding':
      return 'Rounding';
  }
};

/** The lines by heading: headings in the order in which they first occur, lines in theirs. */
export const sectionsOf = (lines: readonly InvoiceLine[]): Section[] => {
  const sections = new Map<string, InvoiceLine[]>();
  for (const line of lines) {
    const heading = headingOf(line);
    sections.set(heading, [...(sections.get(heading) ?? []), line]);
  }
  return [...sections].map(([heading, found]) => ({ heading, lines: found }));
};
