import { useList } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Count, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { formatDay } from '../../design/format/times.ts';
import { DownloadButton } from '../../design/forms/download-button.tsx';
import { MAX_EXPORT_DAYS } from './export-draft.ts';

type Export = ReplyBody<'GET /v1/billing/exports/{id}'>;

const REFRESH_MS = 5_000;
const PERCENT = 100;
const FORMAT_NAMES: Readonly<Record<Export['format'], string>> = { csv: 'CSV', jsonl: 'JSON Lines', focus: 'FOCUS 1.4' };

const isRunning = ({ state }: Export): boolean => state === 'pending' || state === 'running';

const daysOf = ({ start_time, end_time }: Export): string => `${formatDay(start_time)} to ${formatDay(end_time - 1)}`;

const fileOf = async (id: string): Promise<{ url: string | null }> => {
  const { download_url } = await request('GET /v1/billing/exports/{id}', { parameters: { id } });
  return { url: download_url };
};

const State = ({ one }: { one: Export }) => (
  <>
    <Chip state={one.state} tone={isRunning(one) ? 'accent' : undefined} /> {isRunning(one) && `${Math.floor(one.progress * PERCENT)}%`}
    {one.error}
  </>
);

const COLUMNS: readonly Column<Export>[] = [
  { title: 'Days (UTC)', isWhole: true, render: daysOf },
  { title: 'Format', isWhole: true, render: ({ format }) => FORMAT_NAMES[format] },
  {
    title: 'Filters',
    render: ({ api_key_ids, models }) => [...(models ?? []), ...(api_key_ids ?? [])].join(', ') || 'all',
  },
  { title: 'State', render: (one) => <State one={one} /> },
  { title: 'Records', isNumeric: true, render: ({ rows }) => <Count value={rows} /> },
  { title: 'Size (bytes)', isNumeric: true, render: ({ bytes }) => <Count value={bytes} /> },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  { title: 'Id', render: ({ id }) => <CopyText text={id} /> },
  {
    title: 'File',
    render: (one) =>
      one.state === 'completed' && <DownloadButton label="Download" name={`Download ${daysOf(one)}`} read={() => fileOf(one.id)} />,
  },
];

/** The exports of an organization. */
export const ExportFiles = ({ organization }: { organization: string | undefined }) => {
  const options = { query: organization ? { organization } : {} };
  const seen = useList('GET /v1/billing/exports', options);
  const isWaiting = seen.data?.some(({ data }) => data.some(isRunning)) === true;
  const exports = useList('GET /v1/billing/exports', options, { refetchMs: isWaiting ? REFRESH_MS : undefined });
  return (
    <PagedTable
      label="Exports"
      query={exports}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      empty={
        <Empty title="No exports yet">
          <p>An export writes the usage records of up to {MAX_EXPORT_DAYS} days to a file, for a spreadsheet or a FinOps tool.</p>
        </Empty>
      }
    />
  );
};
