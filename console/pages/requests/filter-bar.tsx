import { Button } from '../../design/controls/button.tsx';
import type { Choice } from '../../design/controls/choice.ts';
import { SelectField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { RangeFields } from '../../design/controls/range-fields.tsx';
import { rangeNamed } from '../../design/format/ranges.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { ProjectFilter } from '../../design/forms/project-filter.tsx';
import { Filters, Stack } from '../../design/layout/layout.tsx';
import { FILTER_NAMES, type FilterValues, filtersSet, SEARCH_RANGES } from './filters.ts';

const STATUSES: readonly Choice[] = [
  ['', 'Any status'],
  ['2xx', 'Success (2xx)'],
  ['4xx', 'Client errors (4xx)'],
  ['5xx', 'Server errors (5xx)'],
  ...['400', '401', '403', '404', '408', '413', '429', '500', '502', '503', '504'].map((status) => [status, status] as const),
];

const OUTCOMES: readonly Choice[] = [
  ['', 'Any outcome'],
  ['completed', 'Completed'],
  ['client_closed', 'Closed by the client'],
  ['upstream_failed', 'Model failed'],
  ['timed_out', 'Timed out'],
  ['orphaned', 'Function crashed'],
];

interface FilterBarProps {
  values: FilterValues;
  onChange: (changes: Partial<FilterValues>) => void;
}

const MoreFilters = ({ values, onChange }: FilterBarProps) => {
  const field = (name: keyof FilterValues, label: string, placeholder?: string) => (
    <FilterField
      label={label}
      value={values[name]}
      onChange={(value) => onChange({ [name]: value })}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
  return (
    <Filters>
      {field('error_code', 'Error code', 'upstream_timeout')}
      {field('min_duration_ms', 'Minimum duration (ms)', '5000')}
      {field('user', 'End user')}
      {field('user_id', 'X-User-Id header')}
      {field('deployment', 'Deployment', 'dep_…')}
      {field('metadata', 'Metadata', 'team=search, env=prod')}
    </Filters>
  );
};

const MORE: readonly (keyof FilterValues)[] = ['error_code', 'min_duration_ms', 'user', 'user_id', 'deployment', 'metadata'];

/** All filters of the request search. */
export const FilterBar = ({ values, onChange }: FilterBarProps) => {
  const set = filtersSet(values);
  const cleared = Object.fromEntries(FILTER_NAMES.filter((name) => set.includes(name)).map((name) => [name, '']));
  return (
    <Stack>
      <Filters>
        <OrganizationField value={values.organization} onChange={(organization) => onChange({ organization, project_id: '' })} />
        <RangeFields
          names={SEARCH_RANGES}
          name={rangeNamed(values.range, SEARCH_RANGES)}
          from={values.from}
          to={values.to}
          onChange={onChange}
        />
        <SelectField label="Status" value={values.status} choices={STATUSES} onChange={(status) => onChange({ status })} />
        <SelectField label="Outcome" value={values.outcome} choices={OUTCOMES} onChange={(outcome) => onChange({ outcome })} />
        <FilterField label="Model" value={values.model} onChange={(model) => onChange({ model })} />
        <FilterField
          label="API key"
          placeholder="key_…"
          value={values.api_key_id}
          onChange={(api_key_id) => onChange({ api_key_id })}
          isCode
        />
        <ProjectFilter organization={values.organization} value={values.project_id} onChange={(project_id) => onChange({ project_id })} />
        <FilterField label="Request" placeholder="req_…" value={values.id} onChange={(id) => onChange({ id })} isCode />
        {set.length > 0 && <Button onClick={() => onChange(cleared)}>Clear filters</Button>}
      </Filters>
      <details open={set.some((name) => MORE.includes(name))}>
        <summary>More filters</summary>
        <MoreFilters values={values} onChange={onChange} />
      </details>
    </Stack>
  );
};
