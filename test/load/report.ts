import { SECOND_MS } from '../../shared/time/units.ts';
import { median, percentile } from '../bench/lib/statistics.ts';
import { shownRatio, toTable } from '../bench/lib/table.ts';
import type { Sent } from './check-reply.ts';
import { FAULTS, type Fault } from './faults.ts';
import { atTenths, growthOf, isFitted, type Memory, slopeOf } from './memory.ts';
import type { Measured } from './meter.ts';
import type { LoadFindings } from './run-load.ts';

const MAX_DETAILS = 20;
const GROUP_CHARACTERS = 60;
const ID = /\b(req|key|org)_\w+/g;
const P95 = 0.95;

const figures: readonly { name: string; digits: number; of: (measured: Measured) => number }[] = [
  { name: 'streams open at once, mean', digits: 0, of: ({ meanStreams }) => meanStreams },
  { name: 'streams open at once, most', digits: 0, of: ({ mostStreams }) => mostStreams },
  { name: 'first token p50 ms', digits: 0, of: ({ firstTokenMs }) => median(firstTokenMs) },
  { name: 'first token p95 ms', digits: 0, of: ({ firstTokenMs }) => percentile(firstTokenMs, P95) },
  { name: 'stream p50 ms', digits: 0, of: ({ streamMs }) => median(streamMs) },
  { name: 'stream p95 ms', digits: 0, of: ({ streamMs }) => percentile(streamMs, P95) },
  { name: 'whole reply p50 ms', digits: 0, of: ({ wholeMs }) => median(wholeMs) },
  { name: 'whole reply p95 ms', digits: 0, of: ({ wholeMs }) => percentile(wholeMs, P95) },
  { name: 'requests a second', digits: 1, of: ({ requests, elapsedMs }) => (requests * SECOND_MS) / elapsedMs },
  { name: 'tokens a second', digits: 0, of: ({ tokens, elapsedMs }) => (tokens * SECOND_MS) / elapsedMs },
];

const performanceTable = ({ model, sluice }: LoadFindings['measured']): string =>
  toTable([
    ['figure', 'model alone', 'Sluice', 'ratio'],
    ...figures.map(({ name, digits, of }) => [
      name,
      of(model).toFixed(digits),
      of(sluice).toFixed(digits),
      shownRatio(of(sluice) / of(model)),
    ]),
  ]);

const ENDINGS: readonly Sent['ending'][] = ['served', 'cut', 'repeated', 'refused', 'lost'];

const endingTable = ({ load: { sent }, ledgers }: LoadFindings): string => {
  const events = ledgers.reduce((sum, ledger) => sum + ledger.events.length, 0);
  const admitted = sent.filter(({ isAdmitted }) => isAdmitted).length;
  return toTable([
    ['requests', ...ENDINGS, 'admitted', 'events'],
    [sent.length, ...ENDINGS.map((ending) => sent.filter((one) => one.ending === ending).length), admitted, events].map(String),
  ]);
};

// Grants, spending and rest of each account; the plain keys share a row.
const ledgerTable = ({ ledgers }: LoadFindings): string => {
  const labels = [...new Set(ledgers.map(({ account }) => account.label))];
  return toTable([
    ['account', 'keys', 'events', 'cost of events, nano-dollars', 'spent by limiters', 'credit left'],
    ...labels.map((label) => {
      const own = ledgers.filter(({ account }) => account.label === label);
      const events = own.flatMap((ledger) => ledger.events);
      const cost = events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
      const spent = own.reduce((sum, { key }) => sum + BigInt(key.spent ?? 0), 0n);
      const isPrepaid = own[0]?.account.grantedNanos !== undefined;
      return [label, own.length, events.length, cost, spent, isPrepaid ? (own[0]?.organization?.avail ?? 0) : ''].map(String);
    }),
  ]);
};

const memoryTable = (memory: Memory): string => {
  const rows = [...memory].filter(([, samples]) => samples.length > 0);
  const [first] = rows;
  if (!first) return 'Memory is measured only on Linux.';
  const heads = atTenths(first[1]).map(({ requests }) => `at ${requests}`);
  return toTable([
    ['RSS MiB of function', ...heads, 'growth of last third', 'slope per 100,000'],
    ...rows.map(([name, samples]) => [
      name,
      ...atTenths(samples).map(({ mib }) => mib.toFixed(0)),
      growthOf(samples).toFixed(1),
      isFitted(samples) ? slopeOf(samples).toFixed(1) : '',
    ]),
  ]);
};

const errorTable = (errors: ReadonlyMap<string, number>): string =>
  errors.size === 0
    ? 'No function logged an error.'
    : toTable([['error in the logs', 'times'], ...[...errors].map(([error, times]) => [error, String(times)])]);

const faultTable = (faults: readonly Fault[]): string =>
  toTable([[...FAULTS], FAULTS.map((kind) => String(faults.filter((fault) => fault.kind === kind).length))]);

// Faults that differ only in ids are shown once, with their number.
const details = (faults: readonly Fault[]): string => {
  const groups = new Map<string, { first: Fault; times: number }>();
  for (const fault of faults) {
    const group = `${fault.kind} ${fault.detail.slice(0, GROUP_CHARACTERS).replaceAll(ID, '')}`;
    const { first = fault, times = 0 } = groups.get(group) ?? {};
    groups.set(group, { first, times: times + 1 });
  }
  return [...groups.values()]
    .slice(0, MAX_DETAILS)
    .map(({ first: { kind, detail }, times }) => `- ${kind}: ${detail}${times > 1 ? ` (and ${times - 1} more)` : ''}`)
    .join('\n');
};

/** Everything that a load found, as Markdown. */
export const toReport = (findings: LoadFindings): string =>
  [
    performanceTable(findings.measured),
    endingTable(findings),
    ledgerTable(findings),
    memoryTable(findings.memory),
    errorTable(findings.errors),
    faultTable(findings.faults),
    details(findings.faults),
  ].join('\n\n');
