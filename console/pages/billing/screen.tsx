import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import type { Choice } from '../../design/controls/choice.ts';
import { Segments } from '../../design/controls/fields.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page, Row } from '../../design/layout/layout.tsx';
import { CreditView } from './credit.tsx';
import { Overview } from './overview.tsx';
import { ProfileView } from './profile.tsx';

type View = '' | 'credit' | 'profile';

const VIEWS: readonly Choice<View>[] = [
  ['', 'This month'],
  ['credit', 'Credit'],
  ['profile', 'Profile'],
];

interface ViewProps {
  view: View;
  /** The id of the organization. */
  id: string;
  /** For users of the platform: the same id. */
  organization: string | undefined;
}

const Chosen = ({ view, id, organization }: ViewProps) => {
  switch (view) {
    case 'credit':
      return <CreditView key={id} id={id} />;
    case 'profile':
      return <ProfileView key={id} organization={organization} />;
    case '':
      return <Overview key={id} id={id} organization={organization} />;
  }
};

/** The spending of an organization, its payments, and its billing profile. */
export const Screen = () => {
  const me = useSignedIn();
  const [values, change] = useUrlStates(['view', 'organization']);
  const view = VIEWS.find(([value]) => value === values.view)?.[0] ?? '';
  const organization = isOfPlatform(me) ? values.organization : undefined;
  const id = me.organization ?? values.organization;
  const ofOrganization = organization ? `?organization=${encodeURIComponent(organization)}` : '';
  return (
    <Page
      title="Billing"
      description="This month's cost and budget, prepaid credit, and the customer details on invoices."
      actions={
        <Row>
          <ButtonLink to={`/invoices${ofOrganization}`}>Invoices</ButtonLink>
          <ButtonLink to={`/exports${ofOrganization}`}>Exports</ButtonLink>
          <ButtonLink to={`/service-levels${ofOrganization}`}>Service levels</ButtonLink>
        </Row>
      }
    >
      <Filters>
        <OrganizationField value={values.organization} onChange={(next) => change({ organization: next })} />
        <Segments label="View" value={view} choices={VIEWS} onChange={(next) => change({ view: next })} />
      </Filters>
      {id === '' ? (
        <Empty title="Choose an organization">
          <p>Each organization has its own budget, credit and billing profile.</p>
        </Empty>
      ) : (
        <Chosen view={view} id={id} organization={organization} />
      )}
    </Page>
  );
};
