import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Failure } from '../../design/feedback/failure.tsx';
import { Section } from '../../design/layout/layout.tsx';
import type { IdentityProvider } from '../identity-providers/provider-draft.ts';
import { type PartProps, placeOf, readProviders } from './place.ts';

type Domain = IdentityProvider['domains'][number];

const columnsFor = (onCheck: ((domain: string) => void) | undefined, checked: string | undefined): readonly Column<Domain>[] => [
  { title: 'Domain', render: ({ domain }) => domain },
  { title: 'State', render: ({ status }) => <Chip state={status} /> },
  { title: 'TXT record name', render: ({ record }) => <CopyText text={record.name} /> },
  { title: 'TXT record value', render: ({ record }) => <CopyText text={record.value} /> },
  {
    title: 'Verified',
    render: ({ domain, status, verified_at }) =>
      status === 'verified' ? (
        <Time seconds={verified_at} />
      ) : (
        onCheck && (
          <Button disabled={checked !== undefined} onClick={() => onCheck(domain)}>
            {checked === domain ? 'Checking…' : 'Check now'}
          </Button>
        )
      ),
  },
];

/** The domains of the users, each with the DNS record that proves that it is the organization's. */
export const Domains = (part: PartProps) => {
  const me = useSignedIn();
  const { domains } = part.provider;
  const [checked, setChecked] = useState<string>();
  const [failure, setFailure] = useState<Error>();
  const check = async (domain: string) => {
    setChecked(domain);
    setFailure(undefined);
    try {
      const { parameters, query } = placeOf(part);
      await request('POST /v1/identity-providers/{id}/domains/{domain}/verify', { parameters: { ...parameters, domain }, query });
      await readProviders();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setChecked(undefined);
    }
  };
  return (
    <Section title="Domains">
      {domains.length === 0 ? (
        <p>No domains yet, so nobody can sign in. Edit the identity provider to add the domains of your users' email addresses.</p>
      ) : (
        <Table
          label="Domains and their TXT records"
          rows={domains}
          keyOf={({ domain }) => domain}
          columns={columnsFor(can(me, 'identity_providers:write') ? (domain) => void check(domain) : undefined, checked)}
        />
      )}
      {domains.some(({ status }) => status === 'pending') && (
        <p>Add the TXT record to the domain's DNS, then choose Check now. Users of a domain can sign in once it is verified.</p>
      )}
      {failure && <Failure failure={failure} />}
    </Section>
  );
};
