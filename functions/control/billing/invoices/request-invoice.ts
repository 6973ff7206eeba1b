import * as z from 'zod';
import { commit } from '../../../../shared/audit/commit.ts';
import { closableAt, Month, monthOf, nextMonth } from '../../../../shared/billing/month.ts';
import { Conflict } from '../../../../shared/http/errors.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { Actor } from '../../access/actor.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { sendTask } from '../send-task.ts';
import type { InvoiceDependencies } from './change-invoice.ts';

export const NewInvoice = z.strictObject({
  organization: OrganizationId,
  month: Month.meta({ description: 'A UTC month.', examples: ['2026-10'] }),
});
export type NewInvoice = z.output<typeof NewInvoice>;

/** A month that is being closed. */
export const Closing = z.object({ object: z.literal('closing'), organization: z.string(), month: z.string() });
export type Closing = z.infer<typeof Closing>;

class NotClosable extends Conflict {
  constructor(message: string) {
    super({ code: 'month_not_closable', param: 'month', message });
  }
}

class AlreadyInvoiced extends Conflict {
  constructor(month: string, id: string) {
    super({
      code: 'invoice_exists',
      param: 'month',
      message: `The invoice ${id} already bills ${month}. To create another, delete it if it is a draft, or void it.`,
    });
  }
}

export interface RequestDependencies extends InvoiceDependencies {
  organizations: { get: (id: string) => Promise<{ created_at: number }> };
}

// Months are closed in their order, after their end.
const checkClosable = async (
  { organizations, billed }: RequestDependencies,
  { organization, month }: NewInvoice,
  nowMs: number,
): Promise<void> => {
  const first = monthOf((await organizations.get(organization)).created_at * SECOND_MS);
  if (month < first) throw new NotClosable(`The organization was created in ${first}, so ${month} can't be closed. Choose a later month.`);
  if (nowMs < closableAt(month))
    throw new NotClosable(
      `${month} can be closed from ${new Date(closableAt(month)).toISOString()} on, after its last usage events have arrived. Try again then.`,
    );
  const { last_closed_month } = await billed.getState(organization);
  const next = last_closed_month === null ? first : nextMonth(last_closed_month);
  if (month > next) throw new NotClosable(`Months are closed in order. Close ${next} first.`);
};

/**
 * Closes a month in the background, unless it has an invoice that is not void. The new invoice is a draft, or issued if
 * the seller's invoices are issued automatically.
 * @throws 404, 409, 503
 */
export const requestInvoice = async (deps: RequestDependencies, actor: Actor, body: NewInvoice): Promise<Closing> => {
  const { origin } = actor;
  const { organization, month } = body;
  await checkClosable(deps, body, origin.nowMs);
  const existing = (await deps.invoices.ofMonth(organization, month)).find(({ state }) => state !== 'void');
  if (existing) throw new AlreadyInvoiced(month, existing.number ?? existing.id);
  const target = { type: 'month', id: month };
  await commit(deps, origin, { action: 'invoice.requested', organization, target, after: { month } }, deps.users.toCheckActor(actor));
  // The time makes the task new: within a minute of an earlier one, another invoice may have become void.
  await sendTask(deps, { task: 'close', organization, month }, origin.nowMs, origin.nowMs);
  return { object: 'closing', organization, month };
};
