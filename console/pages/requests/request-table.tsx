import { Link } from 'wouter';
import type { ReplyBody } from '../../client/routes.ts';
import { type Column, Table } from '../../design/data/table.tsx';
import { Count, Duration, Money, Time } from '../../design/data/values.tsx';
import { Outcome } from './outcome.tsx';

type Row = ReplyBody<'GET /v1/observability/requests'>['data'][number];

// The address of a request's screen. With its key, it is found at once, and also when it can no longer be searched.
const requestPath = (id: string, { apiKey, organization }: { apiKey?: string; organization?: string }): string =>
  `/requests/${id}?${new URLSearchParams({ ...(apiKey && { api_key_id: apiKey }), ...(organization && { organization }) })}`;

const SHOWN_CHARACTERS = 8;

const endOf = (id: string): string => `…${id.slice(-SHOWN_CHARACTERS)}`;

const columnsFor = (organization: string): readonly Column<Row>[] => [
  {
    title: 'Request',
    isWhole: true,
    render: ({ id, api_key_id }) => (
      <Link to={requestPath(id, { apiKey: api_key_id, organization })} title={id}>
        <code>req_{endOf(id)}</code>
      </Link>
    ),
  },
  { title: 'Arrived', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  { title: 'Outcome', isWhole: true, render: (row) => <Outcome {...row} errorCode={row.error_code} /> },
  { title: 'Model', hasIds: true, render: ({ model }) => model ?? '–' },
  { title: 'First token', isNumeric: true, render: (row) => <Duration milliseconds={row.time_to_first_token_ms} /> },
  { title: 'Duration', isNumeric: true, render: ({ duration_ms }) => <Duration milliseconds={duration_ms} /> },
  { title: 'Input', isNumeric: true, render: ({ input_tokens }) => <Count value={input_tokens} /> },
  { title: 'Output', isNumeric: true, render: ({ output_tokens }) => <Count value={output_tokens} /> },
  { title: 'Cost', isNumeric: true, render: ({ cost }) => <Money amount={cost} /> },
  { title: 'API key', isWhole: true, render: ({ api_key_id }) => <code title={api_key_id}>{endOf(api_key_id)}</code> },
  { title: 'End user', render: ({ user, user_id }) => user ?? user_id ?? '–' },
];

/** Requests, newest first. */
export const RequestTable = ({ rows, organization }: { rows: readonly Row[]; organization: string }) => (
  <Table label="Requests" columns={columnsFor(organization)} rows={rows} keyOf={({ id }) => id} />
);
