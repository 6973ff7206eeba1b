import type { Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';
import { isCredit, type Total } from './invoice-totals.ts';

/** A row of the annex. */
export interface AnnexRow {
  label: string;
  requests: string;
  nanos: bigint;
}

/** The annex of an invoice: its charges by project, and sums that lead from them to its total. */
export interface Annex {
  rows: AnnexRow[];
  totals: Total[];
}

type Part = 'Models' | 'Deployments, which are in no project' | 'Credit' | 'Taxes and rounding';

const partOf = ({ kind, deployment }: InvoiceLine): Part => {
  if (isCredit(kind)) return 'Credit';
  if (kind === 'tax' || kind === 'rounding') return 'Taxes and rounding';
  return deployment === null ? 'Models' : 'Deployments, which are in no project';
};

const PARTS: readonly Part[] = ['Models', 'Deployments, which are in no project', 'Credit', 'Taxes and rounding'];

/** Undefined if no request was in a project. */
export const annexOf = ({ lines, projects = [] }: Pick<Invoice, 'lines' | 'projects'>): Annex | undefined => {
  if (projects.length === 0) return undefined;
  const rows = projects.map(({ project_id, requests, amount_nanos }) => ({
    label: project_id ?? 'No project',
    requests: requests.toLocaleString('en-US'),
    nanos: amount_nanos,
  }));
  const totals = PARTS.flatMap((label) => {
    const own = lines.filter((line) => partOf(line) === label);
    return own.length === 0 ? [] : [{ label, nanos: own.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n) }];
  });
  return { rows, totals };
};
