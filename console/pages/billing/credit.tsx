import { useState } from 'react';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip, Money, Time } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section, Tile, Tiles } from '../../design/layout/layout.tsx';
import { CreditDialog } from '../organization/credit-dialog.tsx';

type Balance = ReplyBody<'GET /v1/organizations/{id}/balance'>;
type Grant = ReplyBody<'GET /v1/organizations/{id}/credit-grants'>['data'][number];

const BalanceTiles = ({ balance: { available, held, spent, granted, drift } }: { balance: Balance }) => (
  <>
    <Tiles>
      <Tile label="Available" value={<Money amount={available} />} note="What requests can still use" />
      <Tile label="Held" value={<Money amount={held} />} note="For requests in progress and the next minutes of deployments" />
      <Tile label="Spent" value={<Money amount={spent} />} note="By requests and GPU time" />
      <Tile label="Granted" value={<Money amount={granted} />} note="Grants less deductions and expired credit" />
    </Tiles>
    {/[1-9]/.test(drift) && (
      <Notice>
        <Money amount={drift} /> is not counted yet. Requests of the last few minutes are still being added up.
      </Notice>
    )}
  </>
);

const leftOf = (left: Balance['left'], number: number): string => left.find(({ grant }) => grant === number)?.amount ?? '0';

const columnsFor = (left: Balance['left'] | undefined): readonly Column<Grant>[] => [
  {
    title: 'Entry',
    render: ({ number, kind }) => (
      <>
        {`${number} `}
        <Chip state={kind} />
      </>
    ),
  },
  { title: 'Amount', isNumeric: true, render: ({ amount }) => <Money amount={amount} /> },
  {
    title: 'Remaining',
    isNumeric: true,
    render: ({ kind, number }) => kind === 'grant' && <Money amount={left && leftOf(left, number)} />,
  },
  {
    title: 'Expires',
    isWhole: true,
    render: ({ kind, expires_at, expired_grant }) =>
      expired_grant !== null ? `of entry ${expired_grant}` : kind === 'grant' && <Time seconds={expires_at} />,
  },
  { title: 'Reason', render: ({ reason }) => reason },
  { title: 'Created', isWhole: true, render: ({ granted_at }) => <Time seconds={granted_at} /> },
  { title: 'Created by', render: ({ actor }) => <CopyText text={actor} /> },
];

/** The prepaid credit of an organization, and the ledger of its grants. */
export const CreditView = ({ id }: { id: string }) => {
  const me = useSignedIn();
  const [isGranting, setGranting] = useState(false);
  const balance = useRead('GET /v1/organizations/{id}/balance', { parameters: { id } });
  const grants = useRead('GET /v1/organizations/{id}/credit-grants', { parameters: { id } });
  // An id doesn't tell whom the money is for.
  const organization = useRead('GET /v1/organizations/{id}', { parameters: { id } }, { enabled: isGranting });
  return (
    <>
      <Loaded query={balance}>{(data) => <BalanceTiles balance={data} />}</Loaded>
      <Section title="Grants" actions={can(me, 'credit:grant') && <Button onClick={() => setGranting(true)}>Grant credit</Button>}>
        <p>Credit that expires first is used first. Entries are never modified.</p>
        <Loaded query={grants}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No credit granted yet">
                <p>
                  {isOfPlatform(me)
                    ? 'Prepaid organizations can spend only the credit that you grant them.'
                    : 'You pay by invoice unless your organization is prepaid. Prepaid credit that you are granted appears here.'}
                </p>
              </Empty>
            ) : (
              <Table label="Credit ledger" columns={columnsFor(balance.data?.left)} rows={data} keyOf={({ number }) => String(number)} />
            )
          }
        </Loaded>
      </Section>
      {isGranting && <CreditDialog organization={{ id, name: organization.data?.name ?? id }} onClose={() => setGranting(false)} />}
    </>
  );
};
