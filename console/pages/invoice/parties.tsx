import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Time } from '../../design/data/values.tsx';
import { counted } from '../../design/format/amounts.ts';
import { Columns, Facts, Section } from '../../design/layout/layout.tsx';
import type { Invoice } from './invoice.ts';

type Party = Invoice['buyer'];

const factsOf = ({ legal_name, address, tax_id, email }: Party) =>
  [
    ['Name', legal_name],
    ['Address', address ? [...address.lines, address.country].join(', ') : '–'],
    ['Tax id', tax_id ?? '–'],
    ['Email', email ?? undefined],
  ] as const;

const HASH_SHOWN = 12;

/** The seller, the buyer and the terms, as the invoice prints them. */
export const Parties = ({ invoice }: { invoice: Invoice }) => {
  const {
    id,
    organization,
    seller,
    buyer,
    purchase_order,
    payment_terms_days,
    payment_instructions,
    note,
    due_at,
    inputs_sha256,
    release,
  } = invoice;
  return (
    <Columns>
      <Section title="Customer" isCard>
        <Facts
          facts={[
            ...factsOf(buyer),
            ['Organization', <IdLink key="organization" id={organization} />],
            ['Purchase order', purchase_order ?? '–'],
          ]}
        />
      </Section>
      <Section title="Seller" isCard>
        {seller ? <Facts facts={factsOf(seller)} /> : <p>Copied to the invoice when it is issued.</p>}
      </Section>
      <Section title="Terms and origin" isCard>
        <Facts
          facts={[
            ['Due', due_at === null ? `${counted(payment_terms_days, 'day', 'days')} after issue` : <Time key="due" seconds={due_at} />],
            ['Payment', payment_instructions ?? undefined],
            ['Note', note ?? undefined],
            ['Id', <CopyText key="id" text={id} />],
            ['Created by', `release ${release}`],
            ['Inputs', <CopyText key="inputs" text={inputs_sha256} label={`SHA-256 ${inputs_sha256.slice(0, HASH_SHOWN)}…`} />],
          ]}
        />
      </Section>
    </Columns>
  );
};
