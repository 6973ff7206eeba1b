import { addGroup, type ChargeGroups, listGroups } from '../../../functions/billing/close/charge-group.ts';
import { chargeLines, composeInvoice } from '../../../functions/billing/close/compose-invoice.ts';
import { grantedForVoid } from '../../../functions/billing/close/credit-service-levels.ts';
import { type DayFile, loadDay, monthOfDay } from '../../../functions/billing/close/day-file.ts';
import { Inputs } from '../../../functions/billing/close/inputs.ts';
import { createInvoicePrices } from '../../../functions/billing/close/invoice-prices.ts';
import { descriptionOfFirstRelease } from '../../../functions/billing/close/line.ts';
import { addProject, listProjects, type ProjectSums, projectsOf, toProjectCharge } from '../../../functions/billing/close/project-sums.ts';
import {
  prepaidCreditKey,
  prepaidCreditNanos,
  serviceCreditLines,
  serviceCreditNoteId,
  sumOfCredit,
} from '../../../functions/billing/close/service-credits.ts';
import { serviceLevelsOf } from '../../../functions/billing/close/service-levels.ts';
import { addServices, type ServiceSums } from '../../../functions/billing/close/service-sums.ts';
import { openSources, type SourceDependencies } from '../../../functions/billing/close/sources.ts';
import type { BilledMonth } from '../../../shared/billing/billed-month.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import { type BillingFiles, getFile } from '../../../shared/billing/billing-files.ts';
import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import type { CreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import type { Invoice, InvoiceLine, ProjectCharge } from '../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import type { CreditStore } from '../../../shared/credit/credit-store.ts';
import type { ServiceLevel } from '../../../shared/service-levels/service-level.ts';
import { amountText, countedLines, type UncountedEvent, type VerifiedDay, verifyDay } from './verify-day.ts';

export interface VerifyDependencies extends SourceDependencies {
  invoices: Pick<InvoiceStore, 'find' | 'ofMonth'>;
  billedMonths: Pick<BilledMonthsStore, 'get'>;
  files: BillingFiles;
  creditNotes: Pick<CreditNoteStore, 'find'>;
  credit: Pick<CreditStore, 'getOnce'>;
}

/** Events that came after their day was counted. They are no mistake: another invoice bills them. */
export interface LateEvents {
  day: string;
  /** The API key or deployment. */
  source: string;
  events: number;
  cost_nanos: bigint;
  /** False: the next invoice will bill them as a correction. */
  is_billed: boolean;
}

export interface Verification {
  invoice: string;
  number: string | null;
  /** The events that it bills. */
  events: number;
  lines: number;
  /** Sentences; none: the invoice is equal to what its events give. */
  differences: string[];
  late: LateEvents[];
  /** The currency of the amounts in the sentences and of late events. */
  currency: string;
}

const identityOfLine = ({ quantity: _, amount_nanos: __, unit_price_nanos: ___, ...names }: InvoiceLine): string => canonicalJson(names);
const inWords = (line: InvoiceLine | undefined, currency: string): string =>
  line ? `${line.quantity === null ? '' : `${line.quantity} × `}${amountText(line.amount_nanos, currency)}` : 'nothing';

// Release 0.1.0 wrote lines of another form.
const isOfFirstRelease = (billed: readonly InvoiceLine[]): boolean => billed.every(({ rerate_from }) => rerate_from === undefined);
const inBilledForm = (billed: readonly InvoiceLine[], derived: readonly InvoiceLine[]): readonly InvoiceLine[] =>
  isOfFirstRelease(billed)
    ? derived.map(({ rerate_from: _, ...line }) => ({ ...line, description: descriptionOfFirstRelease(line) }))
    : derived;

// It rounded all currencies to cents, as dollars are.
const roundedLike = ({ month, currency, lines }: Invoice): Pick<Invoice, 'month' | 'currency'> => ({
  month,
  currency: isOfFirstRelease(lines) ? 'USD' : currency,
});

const compareLines = ({ lines: billed, currency }: Invoice, derived: readonly InvoiceLine[]): string[] => {
  const [ofInvoice, ofEvents] = [billed, inBilledForm(billed, derived)].map(
    (lines) => new Map(lines.map((line) => [identityOfLine(line), line])),
  ) as [Map<string, InvoiceLine>, Map<string, InvoiceLine>];
  return [...new Set([...ofInvoice.keys(), ...ofEvents.keys()])].flatMap((name) => {
    const [line, other] = [ofInvoice.get(name), ofEvents.get(name)];
    if (canonicalJson(line) === canonicalJson(other)) return [];
    const { description, kind } = (line ?? other) as InvoiceLine;
    return [`Line '${description}' (${kind}): the invoice has ${inWords(line, currency)}, the events give ${inWords(other, currency)}.`];
  });
};

// Invoices of release 0.1.0 have no annex.
const compareProjects = ({ projects: billed, currency }: Invoice, derived: readonly ProjectCharge[]): string[] => {
  if (billed === undefined) return [];
  const [ofInvoice, ofEvents] = [billed, derived].map((all) => new Map(all.map((each) => [each.project_id, each])));
  return [...new Set([...billed, ...derived].map(({ project_id }) => project_id))].flatMap((id) => {
    const [one, other] = [ofInvoice?.get(id), ofEvents?.get(id)];
    if (canonicalJson(one) === canonicalJson(other)) return [];
    const words = (charge: ProjectCharge | undefined) =>
      charge ? `${charge.requests} requests and ${amountText(charge.amount_nanos, currency)}` : 'nothing';
    return [`Annex, ${id ?? 'no project'}: the invoice has ${words(one)}, the events give ${words(other)}.`];
  });
};

const compareLevels = ({ service_levels: billed = [], currency }: Invoice, derived: readonly ServiceLevel[]): string[] =>
  [...new Set([...billed, ...derived].map(({ model }) => model))].flatMap((model) => {
    const [one, other] = [billed, derived].map((levels) => levels.find((level) => level.model === model));
    if (canonicalJson(one) === canonicalJson(other)) return [];
    const words = (level: ServiceLevel | undefined): string =>
      level
        ? `${level.answered} of ${level.answered + level.failed} requests answered, ${amountText(level.charges_nanos, currency)} and ${level.misses.length} misses`
        : 'nothing';
    return [`Service level of ${model}: the invoice has ${words(one)}, the events give ${words(other)}.`];
  });

const compareGrant = async (deps: VerifyDependencies, invoice: Invoice, levels: readonly ServiceLevel[]): Promise<string[]> => {
  const more = prepaidCreditNanos(levels) - (await grantedForVoid(deps, invoice));
  const expected = more > 0n ? more : 0n;
  const granted = (await deps.credit.getOnce(invoice.organization, prepaidCreditKey(invoice.id)))?.amount_nanos ?? 0n;
  if (granted === expected) return [];
  const amount = (nanos: bigint): string => amountText(nanos, invoice.currency);
  return [`Prepaid credit for service levels: ${amount(granted)} was granted, the events give ${amount(expected)}.`];
};

// A credit note can credit at most what is left of its invoice. Nothing is credited before the invoice is issued.
const compareCredit = async (deps: VerifyDependencies, invoice: Invoice, levels: readonly ServiceLevel[]): Promise<string[]> => {
  if (invoice.state === 'draft' || invoice.state === 'void') return [];
  const derived = serviceCreditLines({ ...invoice, service_levels: [...levels] });
  const note = await deps.creditNotes.find(serviceCreditNoteId(invoice));
  const grant = await compareGrant(deps, invoice, levels);
  const amount = (nanos: bigint): string => amountText(nanos, invoice.currency);
  if (!note) {
    const isMissing = derived.length > 0 && invoice.credited_nanos < invoice.total_nanos;
    return [
      ...(isMissing ? [`Credit note for service levels: there is none, the events give ${amount(sumOfCredit(derived))}.`] : []),
      ...grant,
    ];
  }
  const { lines = [], amount_nanos, number } = note;
  const unlimited = lines.filter(({ kind }) => kind !== 'limit');
  // Less than the events give is right only if nothing is left of the invoice.
  const isLimited = sumOfCredit(derived) > amount_nanos;
  const isEqual =
    canonicalJson(unlimited) === canonicalJson(derived) &&
    sumOfCredit(lines) === amount_nanos &&
    (!isLimited || invoice.credited_nanos === invoice.total_nanos);
  if (isEqual) return grant;
  return [
    `Credit note ${number}: it has ${amount(amount_nanos)} and other lines, the events give ${amount(sumOfCredit(derived))}.`,
    ...grant,
  ];
};

const SUMS = ['subtotal_nanos', 'tax_nanos', 'total_nanos', 'carried_forward_nanos'] as const;

// Throws if the file was changed or belongs to another invoice.
const readInputs = async ({ files }: VerifyDependencies, { id, inputs, inputs_sha256 }: Invoice): Promise<Inputs> => {
  if (inputs?.sha256 !== inputs_sha256) throw new Error(`${id} does not name the file of its inputs.`);
  const read = Inputs.parse(JSON.parse((await getFile(files, inputs)).toString()));
  if (read.invoice !== id) throw new Error(`The file ${inputs.key} belongs to ${read.invoice}.`);
  return read;
};

const groupLate = async (deps: VerifyDependencies, organization: string, uncounted: readonly UncountedEvent[]): Promise<LateEvents[]> => {
  const months = new Map<string, BilledMonth | undefined>();
  const counted = new Map<string, Map<string, Map<string, string>>>();
  for (const day of new Set(uncounted.map((event) => event.day))) {
    const month = monthOfDay(day);
    if (!months.has(month)) months.set(month, await deps.billedMonths.get(organization, month));
    const billed = months.get(month)?.days[day];
    const file = billed && (await loadDay(deps.files, organization, day, billed));
    if (file) counted.set(day, await countedLines(deps.files, file));
  }
  const late = new Map<string, LateEvents>();
  for (const { day, source, id, costNanos } of uncounted) {
    const is_billed = counted.get(day)?.get(source)?.has(id) ?? false;
    const key = [day, source, is_billed].join(' ');
    const sums = late.get(key) ?? { day, source, events: 0, cost_nanos: 0n, is_billed };
    late.set(key, { ...sums, events: sums.events + 1, cost_nanos: sums.cost_nanos + costNanos });
  }
  return [...late].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, events]) => events);
};

/**
 * Derives an invoice again from the events that it counted, and compares each day, API key, deployment, line and sum.
 * Which events it counted is in the files of its days, whose hashes lead to the invoice's own digest. Taxes are those
 * that the tax function returned.
 * @throws Error if a file is missing or was changed
 */
export const verifyInvoice = async (deps: VerifyDependencies, id: string): Promise<Verification> => {
  const invoice = await deps.invoices.find(id);
  if (!invoice) throw new Error(`There is no invoice ${id}.`);
  const { organization, month, currency } = invoice;
  const inputs = await readInputs(deps, invoice);
  const load = (day: string, sha256: string | null): Promise<DayFile | undefined> => loadDay(deps.files, organization, day, { sha256 });

  const sourcesOf = await openSources(
    deps,
    organization,
    inputs.days.map(({ day }) => day),
  );
  const groups = new Map<string, ChargeGroups>();
  const projects: ProjectSums = new Map();
  const verified: VerifiedDay[] = [];
  const services: ServiceSums = new Map();
  const promised = new Set(inputs.promises?.map(({ model }) => model));
  for (const { day, before, read } of inputs.days) {
    const file = await load(day, read);
    const isOwn = monthOfDay(day) === month;
    const now = await verifyDay(
      deps.files,
      day,
      file,
      sourcesOf(day),
      isOwn ? promised : new Set(file?.services?.map(({ model }) => model)),
      currency,
    );
    verified.push(now);
    if (isOwn) addServices(services, now.services);
    const ofMonth: ChargeGroups = groups.get(monthOfDay(day)) ?? new Map();
    groups.set(monthOfDay(day), ofMonth);
    for (const group of now.groups) addGroup(ofMonth, group);
    for (const sum of projectsOf({ groups: now.groups, projects: now.projects.length > 0 ? now.projects : undefined }))
      addProject(projects, sum);
    const earlier = await load(day, before);
    for (const group of earlier?.groups ?? []) addGroup(ofMonth, group, -1);
    for (const sum of earlier ? projectsOf(earlier) : []) addProject(projects, sum, -1);
  }
  const listed = new Map([...groups].map(([each, ofMonth]) => [each, listGroups(ofMonth)]));
  const { prices, carried_forward_nanos: carriedNanos, taxes } = inputs;
  const charges = chargeLines({ month, groups: listed, prices: createInvoicePrices(prices), carriedNanos });
  const derived = composeInvoice(roundedLike(invoice), charges, taxes);
  const levels = serviceLevelsOf(inputs.promises ?? [], services, listed.get(month) ?? []);
  return {
    invoice: id,
    number: invoice.number,
    events: verified.reduce((sum, { events }) => sum + events, 0),
    lines: invoice.lines.length,
    differences: [
      ...verified.flatMap(({ differences }) => differences),
      ...compareLines(invoice, derived.lines),
      ...compareProjects(invoice, listProjects(projects).map(toProjectCharge)),
      ...compareLevels(invoice, levels),
      ...(await compareCredit(deps, invoice, levels)),
      ...SUMS.filter((name) => invoice[name] !== derived[name]).map(
        (name) =>
          `${name}: the invoice has ${amountText(invoice[name], currency)}, the events give ${amountText(derived[name], currency)}.`,
      ),
    ],
    late: await groupLate(
      deps,
      organization,
      verified.flatMap(({ uncounted }) => uncounted),
    ),
    currency,
  };
};

const MAX_SHOWN_LINES = 200;

const shown = (lines: readonly string[]): string[] =>
  lines.length > MAX_SHOWN_LINES ? [...lines.slice(0, MAX_SHOWN_LINES), `… and ${lines.length - MAX_SHOWN_LINES} more.`] : [...lines];

/** The report for an operator. */
export const describeVerification = ({ invoice, number, events, lines, differences, late, currency }: Verification): string => {
  const name = number === null ? invoice : `${invoice} (${number})`;
  const verdict = differences.length === 0 ? `equal: ${name}, ${lines} lines from ${events} events.` : `differs: ${name}`;
  const after = late.map(
    ({ day, source, events: n, cost_nanos, is_billed }) =>
      `Later events: ${day}, ${source}: ${n} events and ${amountText(cost_nanos, currency)}, ${is_billed ? 'billed by a later invoice' : 'which the next invoice will bill'}.`,
  );
  return [verdict, ...shown(differences), ...shown(after)].join('\n');
};
