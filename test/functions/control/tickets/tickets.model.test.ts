import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../../shared/http/errors.ts';
import { afterClosing } from '../../../../shared/tickets/lifecycle.ts';
import type { Severity, TicketStatus } from '../../../../shared/tickets/ticket.ts';
import { DAY_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { type Reply, startTicketDesk, type TicketDesk } from './ticket-desk.ts';

let desk: TicketDesk;
let support: Actor;
let owner: Actor;

beforeAll(async () => {
  desk = await startTicketDesk();
  support = await desk.newUser('support', null);
  owner = await desk.newUser('owner', await desk.newOrganization());
});
afterAll(() => desk.close());

type Step =
  | { do: 'write'; side: 'customer' | 'support' }
  | { do: 'note' }
  | { do: 'set'; side: 'customer' | 'support'; status: TicketStatus }
  | { do: 'severity'; severity: Severity }
  | { do: 'reopen'; side: 'customer' | 'support' }
  | { do: 'close' };

// A ticket as a person would keep it on paper.
interface Paper {
  status: TicketStatus;
  severity: Severity;
  closesAt: number | null;
  firstAnswerAt: number | null;
  /** The start of support's turn; null: it is the customer's. */
  turnSince: number | null;
  /** How long it was support's turn before. */
  used: number;
  /** Messages that everyone sees. */
  messages: number;
}

const RESOLUTION_MINUTES: Record<Severity, number> = { low: 4_800, normal: 2_400, high: 960, urgent: 480 };

const isClosed = ({ status, closesAt }: Paper, now: number): boolean =>
  status === 'closed' || (status === 'resolved' && (closesAt as number) <= now);

// The clock runs while it is support's turn.
const put = (paper: Paper, status: TicketStatus, now: number): Paper => {
  const isTurn = status === 'open' || status === 'waiting_on_support';
  const next = { ...paper, status };
  if (paper.turnSince !== null && !isTurn) Object.assign(next, { used: paper.used + now - paper.turnSince, turnSince: null });
  if (paper.turnSince === null && isTurn) next.turnSince = now;
  if (status !== 'resolved') next.closesAt = null;
  else if (paper.status !== 'resolved') next.closesAt = now + 7 * DAY_MS;
  return next;
};

const reopened = (paper: Paper, now: number): Paper => ({ ...put(paper, 'waiting_on_support', now), turnSince: now, used: 0 });

// The answer is `ok` or the code of an error.
const onPaper = (paper: Paper, step: Step, now: number): [Paper, string] => {
  const answered = (next: Paper): Paper => ({ ...next, firstAnswerAt: paper.firstAnswerAt ?? now });
  if (step.do === 'note') return [paper, 'ok'];
  if (step.do === 'close') return [isClosed(paper, now) ? { ...paper, status: 'closed' } : paper, 'ok'];
  if (step.do === 'reopen') {
    if (paper.closesAt === null) return [paper, 'ticket_not_resolved'];
    if (now >= paper.closesAt + 30 * DAY_MS) return [paper, 'ticket_closed_for_good'];
    return [reopened(paper, now), 'ok'];
  }
  if (isClosed(paper, now)) return [paper, 'ticket_closed'];
  if (step.do === 'severity') {
    const isNew = step.severity !== paper.severity && paper.turnSince !== null;
    const restarted = isNew ? { turnSince: now, used: paper.used + now - (paper.turnSince as number) } : {};
    return [{ ...paper, severity: step.severity, ...restarted }, 'ok'];
  }
  if (step.do === 'write') {
    const more = { ...paper, messages: paper.messages + 1 };
    if (step.side === 'customer') return [paper.status === 'resolved' ? reopened(more, now) : put(more, 'waiting_on_support', now), 'ok'];
    return [answered(paper.status === 'resolved' ? more : put(more, 'waiting_on_customer', now)), 'ok'];
  }
  const settable = step.side === 'customer' ? ['resolved'] : ['waiting_on_support', 'waiting_on_customer', 'resolved'];
  if (step.status !== paper.status && !settable.includes(step.status)) return [paper, 'status_not_settable'];
  const next = put(paper, step.status, now);
  return [step.side === 'support' && step.status === 'resolved' ? answered(next) : next, 'ok'];
};

const codeOf = ({ status, code }: Reply): string => (status < 300 ? 'ok' : status === 412 || status === 503 ? 'lost' : String(code));

const close = async (id: string, now: number): Promise<string> => {
  const before = await desk.deps.tickets.find(id);
  const after = before && afterClosing(before, now);
  if (!before || !after) return 'ok';
  try {
    await transact(desk.emulator.database, desk.deps.tickets.toReplace(before, after));
    return 'ok';
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    return 'lost';
  }
};

const take = async (id: string, step: Step, atMs: number): Promise<string> => {
  const as = 'side' in step && step.side === 'customer' ? owner : support;
  if (step.do === 'close') return close(id, atMs);
  if (step.do === 'write') return codeOf(await desk.send('createTicketMessage', { as, id, atMs, body: { body: 'text' } }));
  if (step.do === 'note')
    return codeOf(await desk.send('createTicketMessage', { as, id, atMs, body: { body: 'text', visibility: 'internal' } }));
  if (step.do === 'reopen') return codeOf(await desk.send('reopenTicket', { as, id, atMs }));
  const body = step.do === 'set' ? { status: step.status } : { severity: step.severity };
  return codeOf(await desk.send('updateTicket', { as, id, atMs, body }));
};

const stored = async (id: string): Promise<Paper & { due: number | null }> => {
  const ticket = await desk.deps.tickets.find(id);
  if (!ticket) throw new Error(`${id} is gone.`);
  const { clocks } = ticket;
  return {
    status: ticket.status,
    severity: ticket.severity,
    closesAt: ticket.closes_at,
    firstAnswerAt: clocks.first_response_at,
    turnSince: clocks.resolution_running_since,
    used: clocks.resolution_used_ms,
    messages: ticket.message_count,
    due: clocks.resolution_due_at,
  };
};

// Only if it is support's turn.
const dueOf = ({ turnSince, used, severity }: Paper): number | null =>
  turnSince === null ? null : turnSince + Math.max(0, RESOLUTION_MINUTES[severity] * MINUTE_MS - used);

const aSide = fc.constantFrom('customer' as const, 'support' as const);
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), side: aSide }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('note' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      side: aSide,
      status: fc.constantFrom<TicketStatus>(
        'open',
        'waiting_on_support',
        'waiting_on_customer',
        'resolved',
        'resolved',
        'resolved',
        'closed',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('severity' as const), severity: fc.constantFrom<Severity>('low', 'normal', 'high', 'urgent') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reopen' as const), side: aSide }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('close' as const) }) },
);
// The times at which something could be decided differently, and any other.
const aWait = fc.oneof(fc.constantFrom(0, 1, 7 * DAY_MS - 1, 7 * DAY_MS, 30 * DAY_MS), fc.nat(40 * DAY_MS), fc.nat(3_600_000));

const newTicket = async (): Promise<{ id: string; paper: Paper; now: number }> => {
  // An hour of its own, because an organization can open 20 an hour.
  now += 3_600_000;
  // An organization can have 100 tickets that are not resolved.
  if (opened++ % 50 === 0) owner = await desk.newUser('owner', await desk.newOrganization());
  const { body } = await desk.send('createTicket', { as: owner, atMs: now, body: { subject: 'a', body: 'b' } });
  const paper: Paper = { status: 'open', severity: 'normal', closesAt: null, firstAnswerAt: null, turnSince: now, used: 0, messages: 1 };
  return { id: body.id, paper, now };
};
let now = Date.UTC(2026, 0, 1);
let opened = 0;

test('any steps of two parties and time have the state and the replies of a ticket on paper', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ waitMs: aWait, step: aStep }), { minLength: 1, maxLength: 14 }), async (steps) => {
      const { id, ...start } = await newTicket();
      let { paper, now: atMs } = start;
      for (const { waitMs, step } of steps) {
        atMs += waitMs;
        const [next, answer] = onPaper(paper, step, atMs);
        expect(await take(id, step, atMs)).toBe(answer);
        paper = next;
        expect(await stored(id)).toEqual({ ...paper, due: dueOf(paper) });
        const { body } = await desk.send('retrieveTicket', { as: owner, id, atMs });
        expect(body.status).toBe(isClosed(paper, atMs) ? 'closed' : paper.status);
      }
      const { body } = await desk.send('listTicketMessages', { as: owner, id, query: { limit: '100' } });
      expect(body.data).toHaveLength(paper.messages);
    }),
    { numRuns: 60 },
  );
});

test('two concurrent changes both happen in some order, or one of them is asked to repeat', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ waitMs: aWait, step: aStep }), { maxLength: 4 }),
      fc.tuple(aStep, aStep),
      aWait,
      async (before, [one, other], waitMs) => {
        const { id, ...start } = await newTicket();
        let { paper, now: atMs } = start;
        for (const { waitMs: ms, step } of before) {
          atMs += ms;
          await take(id, step, atMs);
          [paper] = onPaper(paper, step, atMs);
        }
        atMs += waitMs;
        const answers = await Promise.all([take(id, one, atMs), take(id, other, atMs)]);
        const inOrder = (steps: readonly Step[]): [Paper, string[]] =>
          steps.reduce<[Paper, string[]]>(
            ([at, given], step) => {
              const [next, answer] = onPaper(at, step, atMs);
              return [next, [...given, answer]];
            },
            [paper, []],
          );
        const [oneFirst, [first1, second1]] = inOrder([one, other]);
        const [otherFirst, [first2, second2]] = inOrder([other, one]);
        const onlyOne = onPaper(paper, one, atMs);
        const onlyOther = onPaper(paper, other, atMs);
        const possible: [Paper, (string | undefined)[]][] = [
          [oneFirst, [first1, second1]],
          [otherFirst, [second2, first2]],
          [onlyOne[0], [onlyOne[1], 'lost']],
          [onlyOther[0], ['lost', onlyOther[1]]],
        ];
        const found = await stored(id);
        expect(possible.map(([at, given]) => ({ ...at, due: dueOf(at), given }))).toContainEqual({ ...found, given: answers });
      },
    ),
    { numRuns: 80 },
  );
});
