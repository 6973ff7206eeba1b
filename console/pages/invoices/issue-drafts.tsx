import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Chip, Money } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Items, Row, Stack } from '../../design/layout/layout.tsx';
import { type InvoiceSummary, monthName } from './invoice-state.ts';
import { type IssueResult, issueEach } from './issue-each.ts';

interface IssueDraftsProps {
  drafts: readonly InvoiceSummary[];
  onClose: () => void;
}

const Result = ({ result }: { result: IssueResult | undefined }) => {
  if (!result) return <Chip state="draft" />;
  return result.number === undefined ? (
    <>
      <Chip state="not issued" tone="bad" /> {result.failure}
    </>
  ) : (
    <>
      <Chip state="issued" /> {result.number}
    </>
  );
};

/** Issues drafts one after the other, and shows the result of each. */
export const IssueDrafts = ({ drafts, onClose }: IssueDraftsProps) => {
  const [results, setResults] = useState<ReadonlyMap<string, IssueResult>>(new Map());
  const [state, setState] = useState<'asking' | 'issuing' | 'done'>('asking');
  const isStopped = useRef(false);
  const issueAll = async () => {
    setState('issuing');
    await issueEach(drafts, {
      issue: async ({ id, version }) => (await request('POST /v1/billing/invoices/{id}/issue', { parameters: { id }, version })).number,
      isStopped: () => isStopped.current,
      onResult: (id, result) => setResults((was) => new Map(was).set(id, result)),
    });
    setState('done');
    await readAgain('/v1/billing', '/v1/summary');
  };
  return (
    <Dialog
      title={`Issue ${drafts.length === 1 ? 'invoice' : `${drafts.length} invoices`}`}
      onClose={() => {
        isStopped.current = true;
        onClose();
      }}
    >
      {state === 'asking' && (
        <Notice tone="warn">
          Each invoice gets the next number, and its customer is notified and can download it. Issued invoices can't be changed.
        </Notice>
      )}
      <Items>
        {drafts.map(({ id, buyer, month, total, currency }) => (
          <li key={id}>
            <Stack>
              <Row>
                <Link to={`/invoices/${id}`}>{buyer.legal_name}</Link> {monthName(month)} <Money amount={total} currency={currency} />
              </Row>
              <div role="status">
                <Result result={results.get(id)} />
              </div>
            </Stack>
          </li>
        ))}
      </Items>
      <Row>
        {state !== 'done' && (
          <Button look="primary" isBusy={state === 'issuing'} onClick={() => void issueAll()}>
            {state === 'issuing' ? 'Please wait…' : `Issue ${drafts.length === 1 ? 'invoice' : `${drafts.length} invoices`}`}
          </Button>
        )}
        <Button
          onClick={() => {
            isStopped.current = true;
            onClose();
          }}
        >
          {state === 'issuing' ? 'Stop' : state === 'done' ? 'Close' : 'Cancel'}
        </Button>
      </Row>
    </Dialog>
  );
};
