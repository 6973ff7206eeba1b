import { can, type Me } from '../../client/me.ts';
import { Chip, Time } from '../../design/data/values.tsx';
import { clockOf } from './ticket-clock.ts';
import { SEVERITY_TONES, statusFor, type TicketEntry, type TicketReader } from './ticket-words.ts';

/** A user as a reader of tickets. */
export const readerOf = (me: Me): TicketReader =>
  can(me, 'tickets:answer') ? 'support' : can(me, 'tickets:write') ? 'customer' : 'viewer';

/** The status of a ticket, loud if it is the reader's turn. */
export const TicketState = ({ status, reader }: { status: TicketEntry['status']; reader: TicketReader }) => {
  const { words, tone } = statusFor(status, reader);
  return <Chip state={words} tone={tone} />;
};

/** How bad it is for the customer. */
export const TicketSeverity = ({ severity }: { severity: TicketEntry['severity'] }) => (
  <Chip state={severity} tone={SEVERITY_TONES[severity]} />
);

const WORDS = { first_response: 'first response', resolution: 'resolution' } as const;

/** The promise to the customer that ends next. */
export const TicketDue = ({ ticket }: { ticket: TicketEntry }) => {
  const clock = clockOf(ticket, Date.now() / 1_000);
  if (!clock) return '–';
  const { kind, dueAt, isOverdue, isNear } = clock;
  return (
    <>
      {(isOverdue || isNear) && <Chip state={isOverdue ? 'overdue' : 'due soon'} tone={isOverdue ? 'bad' : 'warn'} />}{' '}
      <span>
        {WORDS[kind]} {isOverdue ? 'was due' : 'due'} <Time seconds={dueAt} />
      </span>
    </>
  );
};
