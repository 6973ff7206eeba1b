import { Link } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Page } from '../../design/layout/layout.tsx';
import { CreateRerate } from './create-rerate.tsx';
import { formatDifference, phaseOf, type Rerate } from './rerate-draft.ts';
import { RerateState } from './rerate-state.tsx';

const REFRESH_MS = 30_000;

const COLUMNS: readonly Column<Rerate>[] = [
  { title: 'Rerate', isWhole: true, render: ({ id, model, instance_type }) => <Link to={`/rerates/${id}`}>{model ?? instance_type}</Link> },
  { title: 'State', isWhole: true, render: (rerate) => <RerateState rerate={rerate} /> },
  { title: 'Organizations', render: ({ organization }) => (organization === null ? 'all' : <IdLink id={organization} />) },
  {
    title: 'Difference',
    isNumeric: true,
    render: (rerate) => {
      const phase = phaseOf(rerate);
      return phase ? formatDifference(phase.difference) : '–';
    },
  },
  { title: 'Reason', render: ({ reason }) => reason },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
];

/** Corrections of past usage by another price version. */
export const Screen = () => {
  const me = useSignedIn();
  const [{ dialog, model, organization }, change] = useUrlStates(['dialog', 'model', 'organization']);
  const query = useList('GET /v1/billing/rerates', {}, { refetchMs: REFRESH_MS });
  return (
    <Page
      title="Rerates"
      description="Rate past usage again with another price version, for example after a wrong price. Sluice bills or credits the difference."
      actions={
        can(me, 'rerates:write') && (
          <Button look="primary" onClick={() => change({ dialog: 'create' })}>
            Create rerate
          </Button>
        )
      }
    >
      <PagedTable
        label="Rerates"
        query={query}
        keyOf={({ id }) => id}
        columns={COLUMNS}
        empty={
          <Empty title="No rerate yet">
            <p>If a price was wrong, add the correct price, then create a rerate for the usage that the wrong price rated.</p>
          </Empty>
        }
      />
      {dialog === 'create' && can(me, 'rerates:write') && (
        <CreateRerate model={model} organization={organization} onClose={() => change({ dialog: '', model: '', organization: '' })} />
      )}
    </Page>
  );
};
