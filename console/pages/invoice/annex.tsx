import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Count, Money } from '../../design/data/values.tsx';
import { sumOf } from '../../design/format/amounts.ts';
import { Note, Section } from '../../design/layout/layout.tsx';
import { projectPath } from '../projects/project-path.ts';
import type { Invoice } from './invoice.ts';

// Those beyond are shown by their id.
const MAX_NAMES = 100;
const SUM = 'sum';

interface AnnexRow {
  /** The id of a project, or `SUM`; null: what keys in no project used. */
  id: string | null;
  name: string;
  requests: number;
  amount: string;
}

const Name = ({ row: { id, name }, organization }: { row: AnnexRow; organization: string | undefined }) => {
  if (id === SUM) return <strong>{name}</strong>;
  if (id === null) return name;
  return <ScreenLink to={projectPath(id, organization)}>{name}</ScreenLink>;
};

/** The annex of an invoice: what each project used of models, if a request was in one. */
export const InvoiceAnnex = ({ invoice: { projects, currency, organization } }: { invoice: Invoice }) => {
  const me = useSignedIn();
  const named = isOfPlatform(me) ? organization : undefined;
  const query = { limit: MAX_NAMES, ...(named && { organization: named }) };
  const known = useRead('GET /v1/projects', { query }, { enabled: projects.length > 0 && can(me, 'projects:read') });
  if (projects.length === 0) return null;
  const names = new Map(known.data?.data.map(({ id, name }) => [id, name]));
  const rows: AnnexRow[] = projects.map(({ project_id: id, requests, amount }) => ({
    id,
    name: id === null ? 'No project' : (names.get(id) ?? id),
    requests,
    amount,
  }));
  const sum = {
    id: SUM,
    name: 'All models',
    requests: rows.reduce((count, { requests }) => count + requests, 0),
    amount: sumOf(rows.map(({ amount }) => amount)),
  };
  const columns: readonly Column<AnnexRow>[] = [
    { title: 'Project', render: (row) => <Name row={row} organization={named} /> },
    { title: 'Requests', isNumeric: true, render: ({ requests }) => <Count value={requests} /> },
    { title: 'Amount', isNumeric: true, render: ({ amount }) => <Money amount={amount} currency={currency} /> },
  ];
  return (
    <Section title="By project">
      <Table label="Charges for models by project" columns={columns} rows={[...rows, sum]} keyOf={({ id }) => id ?? 'none'} />
      <Note>Before credit and taxes, including corrections of earlier months. GPU time of deployments doesn't belong to a project.</Note>
    </Section>
  );
};
