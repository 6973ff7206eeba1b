import { type AllInvoicesStore, MAX_CHECKED } from '../../../shared/billing/all-invoices-store.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { monthOf } from '../../../shared/billing/month.ts';
import type { OrganizationDirectory } from '../../../shared/billing/organization-directory.ts';
import type { Database } from '../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';

export interface ListCheckDependencies {
  database: Database;
  invoices: Pick<InvoiceStore, 'list' | 'getMany' | 'toCheck'>;
  allInvoices: Pick<AllInvoicesStore, 'getCheck' | 'setCheck' | 'toCorrect'>;
  organizations: Pick<OrganizationDirectory, 'page'>;
  now: () => number;
  hasTime: () => boolean;
}

const BATCH_ORGANIZATIONS = 100;
const PARALLEL_ORGANIZATIONS = 25;
// An invoice that changes so often meanwhile is checked by the next run.
const MAX_ATTEMPTS = 3;

// Returns the ids of those that were changed meanwhile.
const correct = async ({ database, invoices, allInvoices }: ListCheckDependencies, read: readonly Invoice[]): Promise<string[]> => {
  const versions = new Map(read.map(({ id, version }) => [id, version]));
  const changed: string[] = [];
  for (const { id, writes } of await allInvoices.toCorrect(read)) {
    const isUnchanged = invoices.toCheck({ id, version: versions.get(id) as number });
    await transact(database, [isUnchanged, ...writes]).catch((error: unknown) => {
      if (!(error instanceof PreconditionFailed)) throw error;
      changed.push(id);
    });
  }
  return changed;
};

const correctAll = async (deps: ListCheckDependencies, read: readonly Invoice[]): Promise<void> => {
  let left = read;
  for (let attempt = 1; left.length > 0; attempt++) {
    const changed = await correct(deps, left);
    if (changed.length > 0 && attempt === MAX_ATTEMPTS)
      throw new Error(`The invoices ${changed.join(', ')} were changed while they were checked.`);
    left = await deps.invoices.getMany(changed);
  }
};

const checkOrganization = async (deps: ListCheckDependencies, organization: string): Promise<void> => {
  let after: string | undefined;
  do {
    const { invoices, next } = await deps.invoices.list(organization, { limit: MAX_CHECKED, after });
    await correctAll(deps, invoices);
    after = next ?? undefined;
  } while (after !== undefined);
};

/**
 * Checks once a month that the list of all invoices has each invoice in its state, and corrects it: an earlier release
 * writes no list. A run that has no more time is continued by the next one.
 * @throws AggregateError if the invoices of some organizations could not be checked; the next run checks them again
 */
export const checkInvoiceList = async (deps: ListCheckDependencies): Promise<void> => {
  const { allInvoices, organizations, now, hasTime } = deps;
  const month = monthOf(now());
  const { finished, after } = await allInvoices.getCheck();
  if (finished === month) return;
  let last = after ?? undefined;
  while (hasTime()) {
    const { ids, hasMore } = await organizations.page({ limit: BATCH_ORGANIZATIONS, after: last });
    throwFailures(await inParallel(ids, PARALLEL_ORGANIZATIONS, (id) => checkOrganization(deps, id)));
    last = ids.at(-1) ?? last;
    await allInvoices.setCheck(hasMore ? { finished, after: last ?? null } : { finished: month, after: null });
    if (!hasMore) return logInfo('invoice_list_checked', { month });
  }
};
