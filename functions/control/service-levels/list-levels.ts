import * as z from 'zod';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { CreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { endOfMonth, Month, monthOf, startOfMonth } from '../../../shared/billing/month.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { figuresFor, MEASURES, type PromiseFigures } from '../../../shared/service-levels/promise.ts';
import type { PromiseStore } from '../../../shared/service-levels/promise-store.ts';
import type { ServiceLevel } from '../../../shared/service-levels/service-level.ts';
import type { OrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import { mergeTotals, noTotals, type Totals } from '../../../shared/usage/totals.ts';
import { type Actor, organizationFor } from '../access/actor.ts';
import { isVisibleTo } from '../billing/invoices/find-invoice.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { PromiseFiguresResource, toFigures } from './promise-resource.ts';

export interface LevelDependencies {
  servicePromises: PromiseStore;
  invoices: Pick<InvoiceStore, 'ofMonth'>;
  creditNotes: Pick<CreditNoteStore, 'list'>;
  billed: Pick<BilledMonthsStore, 'getState'>;
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
}

export const LevelsQuery = z.strictObject({
  organization: OrganizationId.optional().meta({ description: 'Required for admins; otherwise your own organization.' }),
  month: Month.optional().meta({ description: 'A UTC month. Default: this one, so far.', examples: ['2026-10'] }),
});
export type LevelsQuery = z.output<typeof LevelsQuery>;

const Level = z.object({
  model: z.string(),
  promised: PromiseFiguresResource,
  answered: z.int().meta({ description: 'Requests that were answered.' }),
  failed: z.int().meta({ description: 'Requests that failed by no fault of the caller.' }),
  first_tokens: z.int().nullable().meta({ description: 'Streams that did not wait for capacity. Null before the month is closed.' }),
  first_token_p95_ms: z.int().nullable(),
  waits: z.int().nullable().meta({ description: 'Requests that waited for capacity. Null before the month is closed.' }),
  wait_p95_ms: z.int().nullable(),
  charges: z.string().nullable().meta({ description: 'The charges of which a part is credited. Null before the month is closed.' }),
  misses: z.array(z.object({ measure: z.enum(MEASURES), threshold: z.string(), percent: z.int() })).meta({
    description: 'The promises that were missed, and the part of the charges that is credited. Empty before the month is closed.',
  }),
});

export const ServiceLevels = z.object({
  object: z.literal('service_levels'),
  organization: z.string(),
  month: z.string(),
  is_final: z.boolean().meta({
    description:
      'False until the month is closed and its invoice is issued: the counts are then those of the totals, by the model that answered.',
  }),
  credit_note: z.string().nullable().meta({ description: 'The id of the credit note for missed promises.' }),
  data: z.array(Level).meta({ description: 'The models with a promise for the month that had requests.' }),
});
export type ServiceLevels = z.infer<typeof ServiceLevels>;

const toLevel = ({ figures, charges_nanos, prepaid_nanos: _, ...level }: ServiceLevel): z.infer<typeof Level> => ({
  ...level,
  promised: toFigures(figures),
  charges: dollarsOf(charges_nanos),
});

// Rejections by a model after the admission: the only errors of callers in totals.
const CALLER_ERRORS = ['context_length_exceeded', 'invalid_value'] as const;

// Totals don't say which answers were cut off at the deadline, but those had no error.
const soFar = ({ outcomes, errors }: Totals): { answered: number; failed: number } => {
  const counted = (name: 'completed' | 'timed_out' | 'upstream_failed'): number => outcomes.get(name) ?? 0;
  const failedByTime = Math.min(counted('timed_out'), errors.get('upstream_timeout') ?? 0);
  const rejected = CALLER_ERRORS.reduce((sum, code) => sum + (errors.get(code) ?? 0), 0);
  return {
    answered: counted('completed') + counted('timed_out') - failedByTime,
    failed: Math.max(0, counted('upstream_failed') + failedByTime - rejected),
  };
};

const estimate = async (
  { servicePromises, organizationTotals }: LevelDependencies,
  organization: string,
  month: string,
): Promise<z.infer<typeof Level>[]> => {
  const promised = new Map<string, PromiseFigures>();
  for (const { model, promises } of await servicePromises.list()) {
    const figures = figuresFor(promises, month);
    if (figures) promised.set(model, figures);
  }
  if (promised.size === 0) return [];
  const sums = new Map<string, Totals>();
  const range = { fromMs: startOfMonth(month), toMs: endOfMonth(month) };
  for await (const { model, totals } of organizationTotals.list({ organization, span: 'day', detail: 'model', ...range }))
    if (model !== null && promised.has(model)) sums.set(model, mergeTotals(sums.get(model) ?? noTotals(), totals));
  const unknown = { first_tokens: null, first_token_p95_ms: null, waits: null, wait_p95_ms: null, charges: null, misses: [] };
  return [...promised].flatMap(([model, figures]) => {
    const totals = sums.get(model);
    return totals ? [{ model, promised: toFigures(figures), ...soFar(totals), ...unknown }] : [];
  });
};

const MAX_CREDIT_NOTES = 100;

const creditNoteOf = async ({ creditNotes }: LevelDependencies, { id }: Invoice): Promise<string | null> => {
  const { notes } = await creditNotes.list(id, { limit: MAX_CREDIT_NOTES });
  return notes.find(({ lines }) => lines !== undefined)?.id ?? null;
};

/**
 * Returns the service levels of an organization in a month: those of the issued invoice, or else the counts so far.
 * @throws 400 for a month that has not begun, 404
 */
export const listLevels = async (deps: LevelDependencies, actor: Actor, query: LevelsQuery): Promise<ServiceLevels> => {
  const organization = organizationFor(actor, query.organization);
  const current = monthOf(actor.origin.nowMs);
  const month = query.month ?? current;
  if (month > current) throw new InvalidValue('month', `expected ${current} or an earlier month`);
  const of = { object: 'service_levels' as const, organization, month };
  const invoice = (await deps.invoices.ofMonth(organization, month)).find(({ state }) => state !== 'void');
  if (invoice && invoice.issued_at !== null && isVisibleTo(actor, invoice)) {
    const data = (invoice.service_levels ?? []).map(toLevel);
    return { ...of, is_final: true, credit_note: data.length === 0 ? null : await creditNoteOf(deps, invoice), data };
  }
  const { last_closed_month } = await deps.billed.getState(organization);
  // Without an invoice, a closed month had no charges, so nothing is credited.
  const is_final = !invoice && last_closed_month !== null && last_closed_month >= month;
  return { ...of, is_final, credit_note: null, data: await estimate(deps, organization, month) };
};
