import { isDeepStrictEqual } from 'node:util';
import { inFlightOf, type LimiterItem } from '../../shared/admission/item/limiter-item.ts';
import type { Price } from '../../shared/prices/price.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { addEvent, noTotals, type Totals } from '../../shared/usage/totals.ts';
import type { Sent } from './check-reply.ts';
import { type Fault, faultIf } from './faults.ts';
import type { AccountLedger } from './ledger.ts';
import { routes } from './question.ts';

const MILLION = 1_000_000n;

// Nano-dollars, rounded half up. Not the product's own function, which is checked with it.
const chargeOf = (price: Price, { prompt_tokens, completion_tokens }: UsageEvent): bigint =>
  (BigInt(price.prompt_nanos) * BigInt(prompt_tokens) + BigInt(price.completion_nanos) * BigInt(completion_tokens) + MILLION / 2n) /
  MILLION;

const nonceOf = ({ metadata }: UsageEvent): unknown => metadata?.nonce;

const OUTCOMES: Partial<Record<Sent['ending'], readonly string[]>> = {
  served: ['completed'],
  // On AWS, a function is not told that its caller has disconnected.
  cut: ['completed', 'client_closed'],
};

// A caller that disconnected pays for at least one token and at most for all.
const hasTokensOf = ({ ending, tokens, expected }: Sent, { prompt_tokens, completion_tokens }: UsageEvent): boolean => {
  if (ending === 'served') return tokens?.prompt === prompt_tokens && tokens.completion === completion_tokens;
  return expected?.prompt === prompt_tokens && completion_tokens >= 1 && completion_tokens <= expected.completion;
};

const eventFaults = (price: Price, sent: Sent, event: UsageEvent): Fault[] => {
  const id = event.request_id;
  // Only requests to the tokenizer have no metadata.
  const nonce = sent.route === 'tokenize' ? undefined : sent.nonce;
  const isOwn = nonceOf(event) === nonce && event.key_id === sent.keyId && event.route === routes[sent.route].path;
  if (!isOwn)
    return [{ kind: 'crossed', detail: `the event of ${id} is another request's: ${event.route} ${JSON.stringify(event.metadata)}` }];
  const told = JSON.stringify(sent.tokens ?? sent.expected);
  return [
    ...faultIf(!OUTCOMES[sent.ending]?.includes(event.outcome), 'mischarged', `${id}: ${event.outcome}, but its reply was ${sent.ending}`),
    ...faultIf(
      !hasTokensOf(sent, event),
      'mischarged',
      `${id}: ${event.prompt_tokens} + ${event.completion_tokens} tokens, but the reply told ${told}`,
    ),
    ...faultIf(
      event.cost_nanos !== chargeOf(price, event) || event.cached_tokens > 0,
      'mischarged',
      `${id}: ${event.cost_nanos} nano-dollars instead of ${chargeOf(price, event)}`,
    ),
  ];
};

// One event for each request, and no others.
const requestFaults = (price: Price, all: readonly Sent[], events: readonly UsageEvent[]): Fault[] => {
  const byId = new Map(events.map((event) => [event.request_id, event]));
  const admittedIds = new Set<string>();
  const faults: Fault[] = [];
  for (const sent of all) {
    const { requestId, nonce } = sent;
    if (requestId === undefined || !(sent.isAdmitted || sent.ending === 'repeated')) continue;
    const event = byId.get(requestId);
    if (!event) faults.push({ kind: 'unbilled', detail: `${requestId} (${sent.ending}) has no event` });
    else if (sent.ending === 'repeated')
      faults.push(...faultIf(nonceOf(event) !== nonce, 'crossed', `the stored reply of ${requestId} went to another request`));
    else faults.push(...eventFaults(price, sent, event));
    if (!sent.isAdmitted) continue;
    faults.push(...faultIf(admittedIds.has(requestId), 'crossed', `two replies have the id ${requestId}`));
    admittedIds.add(requestId);
  }
  // A request without a reply is a fault by itself, whether or not it was admitted.
  const lost = new Set<unknown>(all.filter(({ ending }) => ending === 'lost').flatMap(({ nonce, requestId }) => [nonce, requestId]));
  for (const event of events)
    if (!admittedIds.has(event.request_id) && !lost.has(event.request_id) && !lost.has(nonceOf(event)))
      faults.push({
        kind: 'unexplained',
        detail: `the event of no admitted request: ${event.route} ${event.outcome} ${event.error_code ?? ''} ${event.request_id}`,
      });
  return faults;
};

const limiterFaults = (name: string, item: LimiterItem, spentNanos: bigint, grantedNanos: bigint | undefined): Fault[] => [
  ...faultIf(inFlightOf(item) > 0, 'unbalanced', `${name}: ${inFlightOf(item)} requests are still in flight`),
  ...faultIf(BigInt(item.spent ?? 0) !== spentNanos, 'unbalanced', `${name}: spent ${item.spent ?? 0}, but its events cost ${spentNanos}`),
  ...faultIf(
    grantedNanos !== undefined && BigInt(item.avail ?? 0) !== grantedNanos - spentNanos,
    'unbalanced',
    `${name}: ${item.avail ?? 0} available of ${grantedNanos}, but its events cost ${spentNanos}`,
  ),
];

const totalsOf = (events: readonly UsageEvent[]): Totals => {
  const totals = noTotals();
  for (const event of events) addEvent(totals, event);
  return totals;
};

// Limiters, credit and totals of an account must be the sums of its events.
const accountFaults = ({ account, events, key, organization, totals }: AccountLedger, ofOrganization: readonly UsageEvent[]): Fault[] => {
  const spentBy = (some: readonly UsageEvent[]): bigint => some.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  const { label, keyId, isLimited, grantedNanos } = account;
  return [
    ...limiterFaults(`${label} key ${keyId}`, key, spentBy(events), undefined),
    ...(organization ? limiterFaults(`${label} organization`, organization, spentBy(ofOrganization), grantedNanos) : []),
    ...faultIf(isLimited && !organization, 'unbalanced', `${label}: the organization has no limiter`),
    ...faultIf(!isDeepStrictEqual(totals.ofKey, totalsOf(events)), 'unbalanced', `${label}: the totals of ${keyId} are not its events'`),
    ...faultIf(
      !isDeepStrictEqual(totals.ofOrganization, totalsOf(ofOrganization)),
      'unbalanced',
      `${label}: the totals of its organization are not its events'`,
    ),
  ];
};

/** Compares everything that is stored after a load with what its callers know. */
export const checkLedger = (price: Price, sent: readonly Sent[], ledgers: readonly AccountLedger[]): Fault[] => {
  const eventsOf = (id: string): UsageEvent[] =>
    ledgers.filter(({ account }) => account.organization === id).flatMap(({ events }) => events);
  return [
    ...requestFaults(
      price,
      sent,
      ledgers.flatMap(({ events }) => events),
    ),
    ...ledgers.flatMap((ledger) => accountFaults(ledger, eventsOf(ledger.account.organization))),
  ];
};
