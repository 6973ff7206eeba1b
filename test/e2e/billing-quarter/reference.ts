import { DAY_MS } from '../../../shared/time/units.ts';
import { fraction, nearest, type Rational, sumOf, times } from './rational.ts';
import type { GpuTime, Request, RerateStep, Script, Step } from './script.ts';

// A request, GPU time, or the difference of another rating. It cannot change.
interface Entry {
  org: string;
  key: string | null;
  user: string | null;
  model: string | null;
  deployment: string | null;
  name: string | null;
  type: string | null;
  atMs: number;
  version: string | null;
  /** The version by which it was rated before, if it is a difference. */
  from: string | null;
  isRequest: boolean;
  prompt: bigint;
  cached: bigint;
  /** As the runtime reported it, which can be more than the prompt. */
  reported: bigint;
  completion: bigint;
  seconds: bigint;
  nanos: bigint;
  isPrepaid: boolean;
  /** The invoice that has it. */
  invoice: ReferenceInvoice | 'none' | null;
}

// Anything with a price, which can be rated again.
interface Rated {
  entry: Entry;
  version: string | null;
  nanos: bigint;
  /** The most that it is charged. */
  most: bigint | null;
}

/** The facts of a line, without its words. */
export interface ReferenceLine {
  kind: string;
  month: string;
  isCorrection: boolean;
  model: string | null;
  tokenKind: string | null;
  deployment: string | null;
  type: string | null;
  version: string | null;
  quantity: bigint | null;
  unitPrice: bigint | null;
  nanos: bigint;
}

export interface ReferenceInvoice {
  org: string;
  month: string;
  lines: ReferenceLine[];
  total: bigint;
  carriedForward: bigint;
  isVoid: boolean;
  credited: bigint;
  /** CountedEvent from 1 over all organizations. */
  number: number;
}

/** An entry of the ledger of credit. */
export interface LedgerEntry {
  number: number;
  nanos: bigint;
  atMs: number;
  expiresMs: number | null;
  expiredGrant: number | null;
}

/** The sums of some entries. */
export interface Sums {
  requests: number;
  prompt: bigint;
  cached: bigint;
  completion: bigint;
  nanos: bigint;
  prepaidNanos: bigint;
}

const MILLION = fraction(1n, 1_000_000n);
const HOUR = fraction(1n, 3_600n);
const CENT = 10_000_000n;

const monthOf = (ms: number): string => {
  const date = new Date(ms);
  return `${date.getUTCFullYear()}-${date.getUTCMonth() < 9 ? '0' : ''}${date.getUTCMonth() + 1}`;
};
const add = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);
const plain = { model: null, tokenKind: null, deployment: null, type: null, version: null, quantity: null, unitPrice: null };

/** Computes what the steps of a script mean for bills, from lists of plain entries. */
export const createReference = ({ models, types, orgs }: Script) => {
  const entries: Entry[] = [];
  const rated: Rated[] = [];
  const invoices: ReferenceInvoice[] = [];
  const ledgers = new Map<string, LedgerEntry[]>(orgs.map((org) => [org, []]));
  const closed = new Map<string, Set<string>>(orgs.map((org) => [org, new Set()]));

  /** The exact cost of tokens or of seconds, before it is rounded; undefined: the price is lost. */
  const exactCost = ({ model, type, prompt, cached, completion, seconds }: Entry, version: string | null): Rational | undefined => {
    if (type !== null) {
      const price = types[type]?.find((each) => each.version === version);
      return price && times(times(fraction(price.hour), fraction(seconds)), HOUR);
    }
    const price = models[model ?? '']?.find((each) => each.version === version);
    if (!price) return undefined;
    const costs = [
      times(fraction(price.prompt), fraction(prompt)),
      times(fraction(price.cached ?? price.prompt), fraction(cached)),
      times(fraction(price.completion), fraction(completion)),
    ];
    return times(sumOf(costs), MILLION);
  };

  const charge = (facts: Omit<Entry, 'nanos' | 'from' | 'invoice'>, holdNanos: bigint | undefined): void => {
    const entry: Entry = { ...facts, nanos: 0n, from: null, invoice: null };
    const exact = exactCost(entry, entry.version);
    // A request of a model whose price is lost has cost a nano-dollar a token.
    const cost = exact ? nearest(exact) : entry.prompt + entry.cached + entry.completion;
    const isCapped = holdNanos !== undefined && cost > holdNanos;
    entry.nanos = isCapped ? holdNanos : cost;
    entries.push(entry);
    rated.push({ entry, version: entry.version, nanos: entry.nanos, most: isCapped ? holdNanos : null });
  };

  const chargeRequest = ({ org, key, user, model, version, atMs, isPrepaid, ...request }: Request): void => {
    const cached = Math.min(request.cached, request.prompt);
    const tokens = {
      prompt: BigInt(request.prompt - cached),
      cached: BigInt(cached),
      reported: BigInt(request.cached),
      completion: BigInt(request.completion),
    };
    charge(
      {
        org,
        key,
        user,
        model,
        version,
        atMs,
        isPrepaid,
        ...tokens,
        seconds: 0n,
        deployment: null,
        name: null,
        type: null,
        isRequest: true,
      },
      request.holdNanos,
    );
  };

  const chargeGpu = ({ org, deployment, name, type, atMs, seconds, instances, version, isPrepaid }: GpuTime): void =>
    charge(
      {
        ...{ org, deployment, name, type, atMs, version, isPrepaid, isRequest: false },
        ...{ key: null, user: null, model: null, prompt: 0n, cached: 0n, reported: 0n, completion: 0n },
        seconds: BigInt(seconds) * BigInt(instances),
      },
      undefined,
    );

  const rerate = ({ model, type, from, to, fromMs, toMs, org }: RerateStep): void => {
    for (const one of rated) {
      const { entry } = one;
      const isOf = (type === undefined ? entry.model === model && entry.type === null : entry.type === type) && one.version === from;
      if (!isOf || entry.atMs < fromMs || entry.atMs >= toMs || (org !== undefined && entry.org !== org)) continue;
      const exact = exactCost(entry, to);
      if (!exact) throw new Error(`There is no price ${to}.`);
      const whole = nearest(exact);
      const nanos = one.most !== null && whole > one.most ? one.most : whole;
      entries.push({
        ...entry,
        ...{ prompt: 0n, cached: 0n, reported: 0n, completion: 0n, seconds: 0n, isRequest: false, invoice: null },
        ...{ version: to, from, nanos: nanos - one.nanos },
      });
      one.version = to;
      one.nanos = nanos;
    }
  };

  /** The lines of entries that have everything in common that a line shows. */
  const linesOfGroup = (group: readonly Entry[], month: string, isCorrection: boolean): ReferenceLine[] => {
    const [{ model, deployment, type, version, from }] = group as [Entry];
    const names = { ...plain, month, isCorrection, model, deployment, type, version };
    const cost = add(group.map(({ nanos }) => nanos));
    if (from !== null) return cost === 0n ? [] : [{ ...names, kind: 'adjustment', nanos: cost }];
    const sum = (name: 'prompt' | 'cached' | 'completion' | 'seconds'): bigint => add(group.map((entry) => entry[name]));
    const lines: ReferenceLine[] = [];
    if (type !== null) {
      const unitPrice = types[type]?.find((each) => each.version === version)?.hour ?? null;
      const quantity = sum('seconds');
      const nanos = unitPrice === null ? cost : nearest(times(times(fraction(quantity), fraction(unitPrice)), HOUR));
      if (quantity !== 0n) lines.push({ ...names, kind: 'gpu_time', quantity, unitPrice, nanos });
    } else {
      const price = models[model ?? '']?.find((each) => each.version === version);
      if (!price) {
        const quantity = sum('prompt') + sum('cached') + sum('completion');
        return quantity === 0n && cost === 0n ? [] : [{ ...names, kind: 'tokens', quantity, nanos: cost }];
      }
      const kinds = [
        ['prompt', sum('prompt'), price.prompt],
        ['cached_prompt', sum('cached'), price.cached ?? price.prompt],
        ['completion', sum('completion'), price.completion],
      ] as const;
      for (const [tokenKind, quantity, unitPrice] of kinds) {
        const nanos = nearest(times(times(fraction(quantity), fraction(unitPrice)), MILLION));
        if (quantity !== 0n) lines.push({ ...names, kind: 'tokens', tokenKind, quantity, unitPrice, nanos });
      }
    }
    const difference = cost - add(lines.map(({ nanos }) => nanos));
    return difference === 0n ? lines : [...lines, { ...names, kind: 'metering_difference', nanos: difference }];
  };

  const linesOf = (some: readonly Entry[], month: string, isCorrection: boolean): ReferenceLine[] => {
    const groups = new Map<string, Entry[]>();
    for (const entry of some) {
      const { model, deployment, name, type, version, from } = entry;
      const id = [model, deployment, name, type, version, from].map((part) => part ?? '\0').join('\n');
      const group = groups.get(id);
      if (group) group.push(entry);
      else groups.set(id, [entry]);
    }
    const lines = [...groups.values()].flatMap((group) => linesOfGroup(group, month, isCorrection));
    const prepaid = add(some.map(({ isPrepaid, nanos }) => (isPrepaid ? nanos : 0n)));
    return prepaid === 0n ? lines : [...lines, { ...plain, kind: 'prepaid_credit', month, isCorrection, nanos: -prepaid }];
  };

  const ofOrg = (org: string): ReferenceInvoice[] => invoices.filter((invoice) => invoice.org === org && !invoice.isVoid);

  /** Bills a month: what was used in it, and what came since of the months that are closed. */
  const close = (org: string, month: string): void => {
    const months = closed.get(org) as Set<string>;
    const open = entries.filter((entry) => entry.org === org && entry.invoice === null);
    const ofMonth = (one: string): Entry[] => open.filter(({ atMs }) => monthOf(atMs) === one);
    const corrected = [...months].filter((one) => one !== month).sort();
    const billed = [...ofMonth(month), ...corrected.flatMap(ofMonth)];
    const lines = [...linesOf(ofMonth(month), month, false), ...corrected.flatMap((one) => linesOf(ofMonth(one), one, true))];
    const carried = ofOrg(org).at(-1)?.carriedForward ?? 0n;
    if (lines.length > 0 && carried !== 0n) lines.push({ ...plain, kind: 'carried_forward', month, isCorrection: false, nanos: carried });
    months.add(month);
    if (lines.length === 0) {
      for (const entry of billed) entry.invoice = 'none';
      return;
    }
    const sum = add(lines.map(({ nanos }) => nanos));
    const total = sum < 0n ? 0n : nearest(fraction(sum, CENT)) * CENT;
    const kind = sum < 0n ? 'carried_forward' : 'rounding';
    if (total !== sum) lines.push({ ...plain, kind, month, isCorrection: false, nanos: total - sum });
    const number = invoices.length + 1;
    const invoice = { org, month, lines, total, carriedForward: sum < 0n ? sum : 0n, isVoid: false, credited: 0n, number };
    invoices.push(invoice);
    for (const entry of billed) entry.invoice = invoice;
  };

  const invoiceOf = (org: string, month: string): ReferenceInvoice => {
    const invoice = ofOrg(org).find((one) => one.month === month);
    if (!invoice) throw new Error(`${org} has no invoice for ${month}.`);
    return invoice;
  };

  const annul = (invoice: ReferenceInvoice): void => {
    invoice.isVoid = true;
    for (const entry of entries) if (entry.invoice === invoice) entry.invoice = null;
  };

  const spent = (org: string): bigint => add(entries.filter((entry) => entry.org === org && entry.isPrepaid).map(({ nanos }) => nanos));
  const granted = (org: string): bigint => add((ledgers.get(org) as LedgerEntry[]).map(({ nanos }) => nanos));

  // The rest of each grant at a midnight: day by day, the grant that expires first is used first.
  const leftAt = (org: string, endMs: number): Map<number, bigint> => {
    const ledger = ledgers.get(org) as LedgerEntry[];
    const grants = ledger.filter(({ nanos, expiredGrant }) => nanos > 0n && expiredGrant === null);
    const left = new Map(grants.map(({ number, nanos }) => [number, nanos]));
    for (const { expiredGrant, nanos, atMs } of ledger)
      if (expiredGrant !== null && atMs < endMs) left.set(expiredGrant, (left.get(expiredGrant) ?? 0n) + nanos);
    const used = new Map<number, bigint>();
    const use = (atMs: number, nanos: bigint): void => {
      const day = Math.floor(atMs / DAY_MS);
      used.set(day, (used.get(day) ?? 0n) + nanos);
    };
    for (const entry of entries) if (entry.org === org && entry.isPrepaid) use(entry.atMs, entry.nanos);
    for (const { nanos, atMs, expiredGrant } of ledger) if (nanos < 0n && expiredGrant === null) use(atMs, -nanos);
    const lastMs = (grant: LedgerEntry): number => grant.expiresMs ?? Number.MAX_SAFE_INTEGER;
    const inOrder = grants.sort((one, other) => lastMs(one) - lastMs(other) || one.number - other.number);
    let owed = 0n;
    const first = Math.min(...used.keys(), ...grants.map(({ atMs }) => Math.floor(atMs / DAY_MS)));
    for (let day = first; day * DAY_MS < endMs; day++) {
      owed += used.get(day) ?? 0n;
      for (const grant of inOrder) {
        const exists = grant.atMs < (day + 1) * DAY_MS && lastMs(grant) > day * DAY_MS;
        const rest = left.get(grant.number) as bigint;
        if (!exists || owed <= 0n || rest <= 0n) continue;
        const taken = owed < rest ? owed : rest;
        left.set(grant.number, rest - taken);
        owed -= taken;
      }
    }
    return left;
  };

  const record = (org: string, entry: Omit<LedgerEntry, 'number'>): void => {
    const ledger = ledgers.get(org) as LedgerEntry[];
    ledger.push({ number: ledger.length + 1, ...entry });
  };

  /** Grants whose expiry was computed a second time, two days after their last day. */
  const checked = new Set<LedgerEntry>();

  /** Removes what is left of the grants whose last day has passed, and corrects what was removed two days later. */
  const expire = (org: string, nowMs: number): void => {
    const ledger = ledgers.get(org) as LedgerEntry[];
    const removed = (number: number): bigint =>
      -add(ledger.filter(({ expiredGrant }) => expiredGrant === number).map(({ nanos }) => nanos));
    const isSettled = ({ expiresMs }: LedgerEntry): boolean => nowMs >= (expiresMs as number) + 2 * DAY_MS;
    const ended = ledger.filter(({ nanos, expiresMs }) => nanos > 0n && expiresMs !== null && expiresMs <= nowMs);
    const late = ended.filter((grant) => removed(grant.number) !== 0n && isSettled(grant) && !checked.has(grant));
    const due = ended.filter(({ number }) => removed(number) === 0n);
    for (const { number, expiresMs } of due.sort(
      (one, other) => Number(one.expiresMs) - Number(other.expiresMs) || one.number - other.number,
    )) {
      const left = leftAt(org, expiresMs as number).get(number) ?? 0n;
      const available = granted(org) - spent(org);
      const nanos = left < available ? left : available;
      if (nanos > 0n) record(org, { nanos: -nanos, atMs: nowMs, expiresMs: null, expiredGrant: number });
    }
    for (const grant of late) {
      checked.add(grant);
      const nanos = (leftAt(org, grant.expiresMs as number).get(grant.number) ?? 0n) - removed(grant.number);
      if (nanos !== 0n) record(org, { nanos: -nanos, atMs: nowMs, expiresMs: null, expiredGrant: grant.number });
    }
  };

  return {
    apply: (step: Step): void => {
      switch (step.do) {
        case 'use':
          step.requests.forEach(chargeRequest);
          step.gpu.forEach(chargeGpu);
          return;
        case 'grant':
          record(step.org, { nanos: step.nanos, atMs: step.atMs, expiresMs: step.expiresMs ?? null, expiredGrant: null });
          return;
        case 'expire':
          expire(step.org, step.atMs);
          return;
        case 'rerate':
          rerate(step);
          return;
        case 'close':
          for (const org of step.orgs) close(org, step.month);
          return;
        case 'void':
          annul(invoiceOf(step.org, step.month));
          return;
        case 'credit':
          invoiceOf(step.org, step.month).credited += step.nanos;
      }
    },

    invoices: (): readonly ReferenceInvoice[] => invoices,
    ledger: (org: string): readonly LedgerEntry[] => ledgers.get(org) as LedgerEntry[],
    balance: (org: string) => ({ granted: granted(org), spent: spent(org), available: granted(org) - spent(org) }),

    /** The sums of an organization's requests by anything. */
    group: (org: string, nameOf: (entry: Readonly<Entry>) => string): Map<string, Sums> => {
      const groups = new Map<string, Sums>();
      for (const entry of entries) {
        if (entry.org !== org || entry.type !== null) continue;
        const name = nameOf(entry);
        const sums = groups.get(name) ?? { requests: 0, prompt: 0n, cached: 0n, completion: 0n, nanos: 0n, prepaidNanos: 0n };
        groups.set(name, sums);
        if (entry.isRequest) sums.requests++;
        sums.prompt += entry.prompt + entry.cached;
        sums.cached += entry.reported;
        sums.completion += entry.completion;
        sums.nanos += entry.nanos;
        if (entry.isPrepaid) sums.prepaidNanos += entry.nanos;
      }
      return groups;
    },

    /** Cost of an organization's requests and GPU time, by any name of an entry, and their tokens or seconds. */
    costs: (org: string, nameOf: (entry: Readonly<Entry>) => string): Map<string, { nanos: bigint; quantity: bigint }> => {
      const groups = new Map<string, { nanos: bigint; quantity: bigint }>();
      for (const entry of entries) {
        if (entry.org !== org) continue;
        const { prompt, cached, completion, seconds, nanos } = entry;
        const name = nameOf(entry);
        const sums = groups.get(name) ?? { nanos: 0n, quantity: 0n };
        groups.set(name, { nanos: sums.nanos + nanos, quantity: sums.quantity + prompt + cached + completion + seconds });
      }
      return groups;
    },

    /** The sums of an organization's GPU time by day and deployment. */
    gpuDays: (org: string): Map<string, { seconds: bigint; nanos: bigint }> => {
      const days = new Map<string, { seconds: bigint; nanos: bigint }>();
      for (const { org: of, type, atMs, deployment, seconds, nanos } of entries) {
        if (of !== org || type === null) continue;
        const name = `${new Date(atMs).toISOString().slice(0, 10)} ${deployment}`;
        const sums = days.get(name) ?? { seconds: 0n, nanos: 0n };
        days.set(name, { seconds: sums.seconds + seconds, nanos: sums.nanos + nanos });
      }
      return days;
    },
  };
};

export type Reference = ReturnType<typeof createReference>;
export type { Entry as ReferenceEntry };
