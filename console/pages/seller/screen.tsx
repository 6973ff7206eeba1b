import { useState } from 'react';
import { useRead } from '../../client/queries.ts';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Page } from '../../design/layout/layout.tsx';
import { NO_SELLER } from './seller-draft.ts';
import { SellerForm } from './seller-form.tsx';

const NOT_SET = 404;

/** The platform's own company, from which invoices come. */
export const Screen = () => {
  const [saves, setSaves] = useState(0);
  const query = useRead('GET /v1/billing/seller', {});
  const isMissing = query.data === undefined && query.error?.status === NOT_SET;
  return (
    <Page title="Seller" description="Your company as invoices and credit notes print it. Each one keeps what it was issued with.">
      {isMissing && <Notice tone="warn">No seller is set yet, so invoices stay drafts.</Notice>}
      <div role="status">{saves > 0 && <Notice tone="good">Saved. Invoices that are issued from now on have it.</Notice>}</div>
      <Loaded query={isMissing ? { ...query, data: NO_SELLER, error: null } : query}>
        {(seller) => <SellerForm key={saves} seller={seller} onSaved={() => setSaves(saves + 1)} />}
      </Loaded>
    </Page>
  );
};
