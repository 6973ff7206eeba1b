import { useState } from 'react';
import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { requestReply } from '../../client/request.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { RangeFields } from '../../design/controls/range-fields.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { faultOfRange, rangeNamed } from '../../design/format/ranges.ts';
import { ExportDialog } from '../../design/forms/export-dialog.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page, Row } from '../../design/layout/layout.tsx';
import { ACTIONS, AUDIT_NAMES, AUDIT_RANGES, type AuditValues, auditSearchOf, isNarrowed } from './audit-query.ts';
import { ENTRY_COLUMNS } from './entry-columns.tsx';

const AT_ONCE = 50;

interface FilterBarProps {
  values: AuditValues;
  onChange: (changes: Partial<AuditValues>) => void;
}

const FilterBar = ({ values, onChange }: FilterBarProps) => (
  <Filters>
    <OrganizationField value={values.organization} onChange={(organization) => onChange({ organization })} />
    <RangeFields names={AUDIT_RANGES} name={rangeNamed(values.range, AUDIT_RANGES)} from={values.from} to={values.to} onChange={onChange} />
    <FilterField
      label="Action"
      placeholder="api_key.rotated, or api_key."
      value={values.action}
      onChange={(action) => onChange({ action })}
      suggestions={ACTIONS}
      isCode
    />
    <FilterField label="Actor (id or email)" value={values.actor} onChange={(actor) => onChange({ actor })} />
    <FilterField label="Target (id)" value={values.target} onChange={(target) => onChange({ target })} isCode />
    {isNarrowed(values) && <Button onClick={() => onChange({ action: '', actor: '', target: '' })}>Clear filters</Button>}
  </Filters>
);

const Nothing = ({ values }: { values: AuditValues }) => (
  <Empty title={isNarrowed(values) ? 'No entries match these filters' : 'No changes in this period'}>
    <p>Every change and every login is listed here with its actor and IP address. Choose a longer period, or clear the filters.</p>
  </Empty>
);

/** The changes of an organization, with their authors. */
export const Screen = () => {
  const me = useSignedIn();
  const [values, change] = useUrlStates(AUDIT_NAMES);
  const [nowS, setNow] = useState(() => Math.floor(Date.now() / 1_000));
  const [isExporting, setExporting] = useState(false);
  const search = auditSearchOf(values, nowS);
  const fault = faultOfRange(rangeNamed(values.range, AUDIT_RANGES), values, Date.now() / 1_000);
  const query = useList('GET /v1/audit-log', { query: { ...search, limit: AT_ONCE } }, { enabled: !fault });
  return (
    <Page
      title="Audit log"
      description={
        isOfPlatform(me) && values.organization === ''
          ? "Every change to the platform's own resources. Choose an organization to see its log."
          : 'Every change and every login of a user. Entries are never modified.'
      }
      actions={
        <Row>
          <Button onClick={() => setNow(Math.floor(Date.now() / 1_000))}>Refresh</Button>
          <Button disabled={fault !== undefined} onClick={() => setExporting(true)}>
            Export
          </Button>
        </Row>
      }
    >
      <FilterBar values={values} onChange={change} />
      {fault ? (
        <Empty title={fault} />
      ) : (
        <PagedTable
          label="Entries"
          query={query}
          columns={ENTRY_COLUMNS}
          keyOf={({ id }) => id}
          empty={<Nothing values={values} />}
          progress={
            query.hasNextPage && (
              <span>
                searched back to <Time seconds={query.data?.at(-1)?.searched_until} />
              </span>
            )
          }
        />
      )}
      {isExporting && (
        <ExportDialog
          title="Export audit log"
          fileName="audit-log"
          formats={['csv']}
          read={({ after, signal }) => requestReply('GET /v1/audit-log', { query: { ...search, format: 'csv', after }, signal })}
          onClose={() => setExporting(false)}
        >
          Entries that match the filters, newest first, up to 20,000.
        </ExportDialog>
      )}
    </Page>
  );
};
