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
    <Page title="Seller" description="Your company's details on invoices and credit notes. Issued documents don't change.">
      {isMissing && <Notice tone="warn">No seller is set yet. Invoices stay drafts until you set one.</Notice>}
      <div role="status">{saves > 0 && <Notice tone="good">Saved. Invoices issued from now on use these details.</Notice>}</div>
      <Loaded query={isMissing ? { ...query, data: NO_SELLER, error: null } : query}>
        {(seller) => <SellerForm key={saves} seller={seller} onSaved={() => setSaves(saves + 1)} />}
      </Loaded>
    </Page>
  );
};
