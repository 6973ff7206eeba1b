import { addressOfId } from '../../client/ids.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Count, Money } from '../../design/data/values.tsx';
import { formatShare } from '../../design/format/amounts.ts';
import { cacheShare, measuredText, type UsageTable as Tabulated, type UsageRow } from './tabulate.ts';
import type { Measure } from './usage-query.ts';

const countOf = (title: string, value: (row: UsageRow) => bigint): Column<UsageRow> => ({
  title,
  isNumeric: true,
  render: (row) => <Count value={String(value(row))} />,
});

const costColumn: Column<UsageRow> = { title: 'Cost', isNumeric: true, render: ({ cost }) => <Money amount={cost} /> };

interface UsageTableProps {
  table: Tabulated;
  measure: Measure;
  /** The title of the groups' column. */
  title: string;
  nameOf: (name: string | null) => string;
}

const GroupName = ({ name, text }: { name: string | null; text: string }) => {
  const address = name === null ? undefined : addressOfId(name);
  return address ? <ScreenLink to={address}>{text}</ScreenLink> : text;
};

/** The groups of a range with their sums, the largest first. */
export const UsageTable = ({ table: { groups, total }, measure, title, nameOf }: UsageTableProps) => (
  <Table
    label={`Usage by ${title}`}
    rows={groups}
    keyOf={({ name }) => name ?? ''}
    columns={[
      { title, render: ({ name }) => <GroupName name={name} text={nameOf(name)} /> },
      ...(measure === 'cost'
        ? []
        : [
            countOf('Requests', ({ requests }) => requests),
            countOf('Input tokens', ({ input }) => input),
            countOf('Cached input', ({ cached }) => cached),
            { title: 'Cache share', isNumeric: true, render: cacheShare } satisfies Column<UsageRow>,
            countOf('Output tokens', ({ output }) => output),
          ]),
      measure === 'cost' ? costColumn : { ...costColumn, title: 'Token cost' },
      {
        title: 'Share',
        isNumeric: true,
        render: (row) => formatShare(measuredText(row, measure), measuredText(total, measure)),
      },
    ]}
  />
);
