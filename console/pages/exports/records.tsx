import { useState } from 'react';
import { useList } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { RangeFields } from '../../design/controls/range-fields.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Count, Money, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { faultOfDays, rangeNamed } from '../../design/format/ranges.ts';
import { Filters } from '../../design/layout/layout.tsx';
import { MAX_EXPORT_DAYS } from './export-draft.ts';
import { type ExportValues, KINDS, MAX_RECORD_DAYS, RECORD_RANGES, recordsQuery, recordTimes } from './records-query.ts';

type Event = ReplyBody<'GET /v1/billing/events'>['data'][number];

const AT_ONCE = 50;
const SHOWN_CHARACTERS = 6;

// A later rating of a request has its id and a number.
const requestIdOf = (id: string): string => id.split('#')[0] ?? id;

const Subject = ({ event, organization }: { event: Event; organization: string }) => {
  if (event.object === 'gpu_time_event') return <IdLink id={event.deployment} />;
  const query = new URLSearchParams({ api_key_id: event.api_key_id, ...(organization && { organization }) });
  return (
    <ScreenLink to={`/requests/${requestIdOf(event.id)}?${query}`}>
      <code>{event.id}</code>
    </ScreenLink>
  );
};

const Used = ({ event }: { event: Event }) =>
  event.object === 'gpu_time_event' ? (
    <>
      <Count value={event.seconds} /> s × <Count value={event.instances} /> {event.instance_type}
    </>
  ) : (
    <>
      <Count value={event.prompt_tokens} /> in (<Count value={event.cached_tokens} /> cached), <Count value={event.completion_tokens} /> out
    </>
  );

const columnsFor = (organization: string): readonly Column<Event>[] => [
  {
    title: 'Time',
    isWhole: true,
    render: (event) => <Time seconds={event.object === 'gpu_time_event' ? event.started_at : event.admitted_at} />,
  },
  { title: 'Request or deployment', isWhole: true, render: (event) => <Subject event={event} organization={organization} /> },
  { title: 'Model', render: ({ model }) => model ?? 'Unknown model' },
  { title: 'API key', render: (event) => event.object === 'usage_event' && <IdLink id={event.api_key_id} /> },
  { title: 'Usage', isWhole: true, render: (event) => <Used event={event} /> },
  {
    title: 'Cost',
    isNumeric: true,
    render: ({ cost, is_prepaid }) => (
      <>
        <Money amount={cost} /> {is_prepaid && <Chip state="prepaid" />}
      </>
    ),
  },
  {
    title: 'Price version',
    render: ({ price_version }) =>
      price_version === null ? '–' : <CopyText text={price_version} label={`…${price_version.slice(-SHOWN_CHARACTERS)}`} />,
  },
];

interface RecordsProps {
  values: ExportValues;
  change: (changes: Partial<ExportValues>) => void;
}

const RecordFilters = ({ values, change }: RecordsProps) => (
  <Filters>
    <RangeFields
      names={RECORD_RANGES}
      name={rangeNamed(values.range, RECORD_RANGES)}
      from={values.from}
      to={values.to}
      onChange={change}
      isByDay
    />
    <SelectField label="Of" value={values.kind} choices={KINDS} onChange={(kind) => change({ kind })} />
    <FilterField label="Model" value={values.model} onChange={(model) => change({ model })} />
    <FilterField label="API key" placeholder="key_…" value={values.api_key} onChange={(api_key) => change({ api_key })} isCode />
  </Filters>
);

const RecordList = ({ values, times }: { values: ExportValues; times: { startS: number; endS: number } }) => {
  const events = useList('GET /v1/billing/events', { query: { ...recordsQuery(values, times), limit: AT_ONCE } });
  return (
    <PagedTable
      label="Usage records"
      query={events}
      keyOf={({ id }) => id}
      columns={columnsFor(values.organization)}
      empty={
        <Empty title="No usage records in this period">
          <p>Each billed request and each billed interval of a deployment has a record. Records can take up to 20 minutes to appear.</p>
        </Empty>
      }
    />
  );
};

/** The records from which invoices are made, oldest first. */
export const Records = ({ values, change }: RecordsProps) => {
  const [nowS] = useState(() => Math.floor(Date.now() / 1_000));
  const range = rangeNamed(values.range, RECORD_RANGES);
  const times = recordTimes(range, values, nowS);
  const fault = times ? faultOfDays(range, values, Date.now() / 1_000, MAX_RECORD_DAYS) : 'Choose a first and a last day';
  return (
    <>
      <RecordFilters values={values} change={change} />
      {times && !fault ? (
        <RecordList values={values} times={times} />
      ) : (
        <Empty title={fault ?? ''}>
          <p>To get the usage records of up to {MAX_EXPORT_DAYS} days, create an export.</p>
        </Empty>
      )}
    </>
  );
};
