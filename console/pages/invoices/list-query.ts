import type { Choice } from '../../design/controls/choice.ts';
import type { InvoiceState } from './invoice-state.ts';

/** The parameters of the address that the list reads. */
export const INVOICE_FILTERS = ['state', 'month', 'organization'] as const;
type Filters = Readonly<Record<(typeof INVOICE_FILTERS)[number], string>>;

const OF_ALL: readonly Choice[] = [
  ['', 'All'],
  ['issued', 'Unpaid'],
  ['paid', 'Paid'],
  ['void', 'Void'],
];

/** The states that a list can be filtered by. Only those who issue invoices see drafts. */
export const stateChoices = (seesDrafts: boolean): readonly Choice[] =>
  seesDrafts ? [['', 'All'], ['draft', 'Drafts'], ...OF_ALL.slice(1)] : OF_ALL;

/** The filters that the API gets. An unknown state and an incomplete month are left out. */
export const invoicesQuery = ({ state, month, organization }: Filters, seesDrafts: boolean) => {
  const isKnown = state !== '' && stateChoices(seesDrafts).some(([value]) => value === state);
  return {
    ...(isKnown && { state: state as InvoiceState }),
    ...(/^\d{4}-\d{2}$/.test(month) && { month }),
    ...(organization && { organization }),
  };
};
