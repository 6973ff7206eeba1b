import { useState } from 'react';
import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { requestReply } from '../../client/request.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { CheckField } from '../../design/controls/fields.tsx';
import { More } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { faultOfRange, rangeNamed } from '../../design/format/ranges.ts';
import { ExportDialog } from '../../design/forms/export-dialog.tsx';
import { Page, Row } from '../../design/layout/layout.tsx';
import { FilterBar } from './filter-bar.tsx';
import { FILTER_NAMES, type FilterValues, filtersSet, SEARCH_RANGES, searchOf } from './filters.ts';
import { mergeNewer } from './merge-newer.ts';
import { Rejected } from './rejected.tsx';
import { RequestTable } from './request-table.tsx';
import { useNewer } from './use-newer.ts';

const AT_ONCE = 50;

const NothingFound = ({ values }: { values: FilterValues }) =>
  filtersSet(values).length > 0 ? (
    <Empty title="No request matches the filters">
      <p>Choose a longer period or clear some filters. Requests appear about a minute after they end.</p>
    </Empty>
  ) : (
    <Empty title="No requests in this period">
      <p>Requests appear here about a minute after they end.</p>
      <ButtonLink to="/api-keys">See API keys</ButtonLink>
    </Empty>
  );

interface ResultsProps {
  values: FilterValues;
  search: ReturnType<typeof searchOf>;
}

const Results = ({ values, search }: ResultsProps) => {
  const isLive = values.live === 'on' && values.range !== 'custom';
  const list = useList('GET /v1/observability/requests', { query: { ...search, limit: AT_ONCE } });
  const newer = useNewer(search, isLive);
  const live = isLive ? newer.data : undefined;
  return (
    <Loaded query={list}>
      {(pages) => {
        const found = pages.flatMap(({ data }) => data);
        const rows = live ? mergeNewer(found, live.rows, found.length + live.rows.length) : found;
        if (rows.length === 0 && !list.hasNextPage) return <NothingFound values={values} />;
        return (
          <div>
            {isLive && newer.error && <Notice tone="warn">New requests couldn't be loaded: {newer.error.message}</Notice>}
            {live?.isBehind && <Notice tone="warn">Requests arrive faster than this page can load them. Add a filter to see all.</Notice>}
            {rows.length > 0 && <RequestTable rows={rows} organization={values.organization} />}
            <More
              count={rows.length}
              hasMore={list.hasNextPage}
              isLoading={list.isFetchingNextPage}
              onMore={() => void list.fetchNextPage()}
              progress={
                list.hasNextPage && (
                  <span>
                    searched back to <Time seconds={pages.at(-1)?.searched_until} />
                  </span>
                )
              }
            />
          </div>
        );
      }}
    </Loaded>
  );
};

/** Finds requests. */
export const Screen = () => {
  const me = useSignedIn();
  const [values, change] = useUrlStates(FILTER_NAMES);
  const [nowS, setNow] = useState(() => Math.floor(Date.now() / 1_000));
  const [isExporting, setExporting] = useState(false);
  const search = searchOf(values, nowS);
  const needsOrganization = isOfPlatform(me) && values.organization === '';
  const fault = faultOfRange(rangeNamed(values.range, SEARCH_RANGES), values, Date.now() / 1_000);
  return (
    <Page
      title="Requests"
      description="Every admitted request of the last 30 days. Open one to see its timeline, tokens and cost."
      actions={
        <Row>
          <CheckField
            label="Live"
            checked={values.live === 'on'}
            disabled={values.range === 'custom'}
            onChange={(isOn) => change({ live: isOn ? 'on' : '' })}
          />
          <Button onClick={() => setNow(Math.floor(Date.now() / 1_000))}>Refresh</Button>
          <Button disabled={needsOrganization || fault !== undefined} onClick={() => setExporting(true)}>
            Export
          </Button>
        </Row>
      }
    >
      <FilterBar values={values} onChange={change} />
      {fault ? (
        <Empty title={fault} />
      ) : needsOrganization ? (
        <Empty title="Choose an organization">
          <p>Requests belong to organizations. Enter the id of one, or choose it by its name.</p>
        </Empty>
      ) : (
        <>
          <Rejected values={values} search={search} />
          <Results values={values} search={search} />
        </>
      )}
      {isExporting && (
        <ExportDialog
          title="Export requests"
          fileName="requests"
          formats={['csv', 'jsonl']}
          read={({ format, after, signal }) =>
            requestReply('GET /v1/observability/requests/export', { query: { ...search, format, after }, signal })
          }
          onClose={() => setExporting(false)}
        >
          Exports up to 100,000 requests that match the filters, newest first, without their content.
        </ExportDialog>
      )}
    </Page>
  );
};
