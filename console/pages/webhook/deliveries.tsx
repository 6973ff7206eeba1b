import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useList } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { useUrlState } from '../../client/url-state.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { Segments } from '../../design/controls/fields.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Duration, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { ActionButton } from '../../design/forms/action-button.tsx';
import { Disclosure, Items, Section } from '../../design/layout/layout.tsx';
import { wordsOfType } from '../webhooks/event-types.ts';
import type { Webhook } from '../webhooks/webhook-draft.ts';
import { attemptText, type Delivery, isMoving } from './attempt-words.ts';

const POLL_MS = 5_000;
const TEST_TYPE = 'sluice.webhook.test.v1';

const nameOf = (type: string): string => (type === TEST_TYPE ? 'Test' : wordsOfType(type));

const Attempts = ({ delivery: { attempts } }: { delivery: Delivery }) => {
  const last = attempts.at(-1);
  if (!last) return 'none yet';
  return (
    <Disclosure title={`${attempts.length}: ${attemptText(last)}`}>
      <Items isOrdered>
        {attempts.map((attempt, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no ids, and are only added at the end
          <li key={i}>
            <Time seconds={attempt.at} />: {attemptText(attempt)} (<Duration milliseconds={attempt.duration_ms} />)
          </li>
        ))}
      </Items>
    </Disclosure>
  );
};

const columnsFor = (replay: ((delivery: string) => Promise<unknown>) | undefined): readonly Column<Delivery>[] => [
  {
    title: 'Event',
    hasIds: true,
    render: ({ type, event }) => (
      <>
        <div>{nameOf(type)}</div>
        <CopyText text={event} />
      </>
    ),
  },
  {
    title: 'State',
    render: ({ state }) => <Chip state={state === 'dead' ? 'failed' : state} tone={state === 'dead' ? 'bad' : undefined} />,
  },
  { title: 'Attempts', isLong: true, render: (delivery) => <Attempts delivery={delivery} /> },
  { title: 'Next attempt', isWhole: true, render: ({ next_attempt_at }) => <Time seconds={next_attempt_at} never="–" /> },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  ...(replay ? [{ title: 'Actions', render: ({ id }: Delivery) => <ActionButton label="Replay" onAct={() => replay(id)} /> }] : []),
];

interface DeliveriesProps {
  webhook: Webhook;
  organization: string | undefined;
  /** The event of a test that was just sent. */
  awaited: string | undefined;
}

/** The events that were sent to a webhook, or will be. */
export const Deliveries = ({ webhook: { id, enabled }, organization, awaited }: DeliveriesProps) => {
  const me = useSignedIn();
  const [state, setState] = useUrlState<'' | Delivery['state']>('state', '');
  const [isPolling, setPolling] = useState(false);
  const deliveries = useList(
    'GET /v1/webhooks/{id}/deliveries',
    { parameters: { id }, query: { organization, ...(state && { state }) } },
    { refetchMs: isPolling ? POLL_MS : undefined },
  );
  const moves = isMoving(deliveries.data?.flatMap(({ data }) => data) ?? [], state === '' ? awaited : undefined, Date.now() / 1_000);
  if (moves !== isPolling) setPolling(moves);
  const replay = async (delivery: string) => {
    await request('POST /v1/webhooks/{id}/deliveries/{delivery}/replay', { parameters: { id, delivery }, query: { organization } });
    await readAgain(`/v1/webhooks`);
  };
  return (
    <Section
      title="Deliveries"
      actions={
        <Segments
          label="State of the deliveries"
          value={state}
          onChange={setState}
          choices={[
            ['', 'All'],
            ['pending', 'Pending'],
            ['delivered', 'Delivered'],
            ['dead', 'Failed'],
          ]}
        />
      }
    >
      <PagedTable
        label="Deliveries of this webhook"
        query={deliveries}
        keyOf={({ id: delivery }) => delivery}
        columns={columnsFor(enabled && can(me, 'webhooks:write') ? replay : undefined)}
        empty={
          <Empty title={state ? 'No deliveries in this state' : 'No deliveries yet'}>
            <p>
              Deliveries to this webhook are listed here for 45 days.
              {can(me, 'webhooks:write') && ' Send a test event to see one.'}
            </p>
          </Empty>
        }
      />
    </Section>
  );
};
