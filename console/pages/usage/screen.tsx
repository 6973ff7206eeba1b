import { useMemo, useState } from 'react';
import { can, isOfPlatform, seesOnlyOwn, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { Segments, SelectField } from '../../design/controls/fields.tsx';
import { RangeFields } from '../../design/controls/range-fields.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { faultOfDays, rangeNamed } from '../../design/format/ranges.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { ProjectFilter } from '../../design/forms/project-filter.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { chosenOf, type Grouping, groupingsFor, MEASURES, NAMELESS, timesOf, USAGE_NAMES, USAGE_RANGES } from './usage-query.ts';
import { UsageResults } from './usage-results.tsx';

const MAX_KEYS = 100;
const SHOWN_CHARACTERS = 6;

// The names of keys, projects and organizations; all else is its own name.
const useNames = (groupBy: Grouping, organization: string): ((name: string | null) => string) => {
  const me = useSignedIn();
  const needsOrganization = isOfPlatform(me) && organization === '';
  const keys = useRead(
    'GET /v1/api-keys',
    { query: { limit: MAX_KEYS, organization } },
    { enabled: groupBy === 'api_key_id' && can(me, 'keys:read') && !needsOrganization },
  );
  const projects = useRead(
    'GET /v1/projects',
    { query: { limit: MAX_KEYS, organization } },
    { enabled: groupBy === 'project_id' && can(me, 'projects:read') && !needsOrganization },
  );
  const organizations = useRead(
    'GET /v1/organizations',
    { query: { limit: MAX_KEYS } },
    { enabled: groupBy === 'organization' && can(me, 'organizations:list') },
  );
  const lists = { organization: organizations, api_key_id: keys, project_id: projects };
  const named = groupBy in lists ? lists[groupBy as keyof typeof lists].data?.data : undefined;
  return useMemo(() => {
    const names = new Map(named?.map(({ id, name }) => [id, name]));
    return (id) => (id === null ? NAMELESS[groupBy] : names.has(id) ? `${names.get(id)} (…${id.slice(-SHOWN_CHARACTERS)})` : id);
  }, [named, groupBy]);
};

/** The usage of an organization, and its cost. */
export const Screen = () => {
  const me = useSignedIn();
  const seesAll = isOfPlatform(me);
  const [values, change] = useUrlStates(USAGE_NAMES);
  const [nowS] = useState(() => Math.floor(Date.now() / 1_000));
  const { measure, groupBy } = chosenOf(values, seesAll);
  const range = rangeNamed(values.range, USAGE_RANGES);
  const nameOf = useNames(groupBy, values.organization);
  const groupings = groupingsFor(seesAll);
  const fault = faultOfDays(range, values, Date.now() / 1_000);
  return (
    <Page
      title="Usage and costs"
      description={
        seesOnlyOwn(me)
          ? 'Of your own API keys, by UTC day, a few minutes behind.'
          : 'By UTC day, a few minutes behind. Costs include the GPU time of deployments.'
      }
      actions={can(me, 'billing:read') && <ButtonLink to="/invoices">Invoices</ButtonLink>}
    >
      <Filters>
        <OrganizationField value={values.organization} onChange={(organization) => change({ organization, project_id: '' })} />
        <Segments label="Measure" value={measure} choices={MEASURES} onChange={(next) => change({ measure: next })} />
        <RangeFields names={USAGE_RANGES} name={range} from={values.from} to={values.to} onChange={change} isByDay />
        <SelectField label="Group by" value={groupBy} choices={groupings} onChange={(group) => change({ group })} />
        <ProjectFilter organization={values.organization} value={values.project_id} onChange={(project_id) => change({ project_id })} />
      </Filters>
      {fault ? (
        <Empty title={fault} />
      ) : (
        <UsageResults
          measure={measure}
          groupBy={groupBy}
          title={groupings.find(([value]) => value === groupBy)?.[1] ?? ''}
          times={timesOf(range, values, nowS)}
          organization={values.organization}
          project={values.project_id}
          nameOf={nameOf}
        />
      )}
    </Page>
  );
};
