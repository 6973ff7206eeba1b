import { Link } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import type { Alias } from './alias-draft.ts';
import { aliasPath } from './alias-path.ts';
import { CreateAlias } from './create-alias.tsx';
import { SplitChip } from './split-chip.tsx';

const AT_ONCE = 100;

const COLUMNS: readonly Column<Alias>[] = [
  { title: 'Alias', render: (alias) => <Link to={aliasPath(alias)}>{alias.alias}</Link> },
  { title: 'Model', hasIds: true, render: ({ model }) => model },
  { title: 'Fallbacks', hasIds: true, render: ({ fallbacks }) => fallbacks.join(', ') || '–' },
  {
    title: 'Split',
    hasIds: true,
    render: ({ split }) =>
      split ? (
        <>
          <SplitChip split={split} /> {split.percent}% to {split.model}
        </>
      ) : (
        '–'
      ),
  },
  {
    title: 'Available to',
    isWhole: true,
    render: ({ organization }) => (organization === null ? 'all organizations' : 'one organization'),
  },
];

/** The aliases of models. */
export const Screen = () => {
  const me = useSignedIn();
  const [organization, setOrganization] = useUrlState<string>('organization', '');
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const canWrite = can(me, 'aliases:write');
  const query = useList('GET /v1/model-aliases', { query: { limit: AT_ONCE, organization } });
  return (
    <Page
      title="Aliases"
      description="Alternative names for models. An alias can have fallbacks and split callers between two models."
      actions={
        canWrite && (
          <Button look="primary" onClick={() => setDialog('create')}>
            Create alias
          </Button>
        )
      }
    >
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={organization} onChange={setOrganization} />
        </Filters>
      )}
      <PagedTable
        label="Aliases"
        query={query}
        columns={COLUMNS}
        keyOf={({ alias, organization: of }) => `${of} ${alias}`}
        empty={
          <Empty title="No aliases yet">
            <p>
              Applications send an alias as their model, so you can change the model without changing the applications. With a warm model as
              its fallback, an alias answers even while its deployment is asleep.
            </p>
          </Empty>
        }
      />
      {dialog === 'create' && canWrite && <CreateAlias organization={organization || null} onClose={() => setDialog('')} />}
    </Page>
  );
};
