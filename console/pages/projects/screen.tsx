import { Link } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState, useUrlStates } from '../../client/url-state.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Money, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { ProjectActions } from './project-actions.tsx';
import { CreateProject } from './project-dialogs.tsx';
import type { BudgetPeriod, Project } from './project-draft.ts';
import { projectPath } from './project-path.ts';

const AT_ONCE = 100;

const BudgetCell = ({ project, period }: { project: Project; period: BudgetPeriod }) => {
  const left = project.budgets_left?.[period] ?? null;
  return (
    <>
      <Money amount={project.budgets[period]} />
      {left !== null && (
        <div>
          <Money amount={left} /> left
        </div>
      )}
    </>
  );
};

const columnsFor = (organization: string | undefined, canWrite: boolean): readonly Column<Project>[] => [
  { title: 'Name', render: ({ id, name }) => <Link to={projectPath(id, organization)}>{name}</Link> },
  { title: 'State', render: ({ status }) => <Chip state={status} /> },
  { title: 'Budget per day', isNumeric: true, render: (project) => <BudgetCell project={project} period="day" /> },
  { title: 'Budget per month', isNumeric: true, render: (project) => <BudgetCell project={project} period="month" /> },
  { title: 'Budget in total', isNumeric: true, render: (project) => <BudgetCell project={project} period="total" /> },
  { title: 'Created', render: ({ created_at }) => <Time seconds={created_at} /> },
  ...(canWrite
    ? [{ title: 'Actions', render: (project: Project) => <ProjectActions project={project} organization={organization} isMenu /> }]
    : []),
];

const ProjectList = ({ organization, status, canWrite }: { organization: string | undefined; status: string; canWrite: boolean }) => {
  const query = {
    organization,
    limit: AT_ONCE,
    ...(status !== 'all' && { status: status === 'archived' ? ('archived' as const) : ('active' as const) }),
  };
  return (
    <PagedTable
      label="Projects"
      query={useList('GET /v1/projects', { query })}
      keyOf={({ id }) => id}
      columns={columnsFor(organization, canWrite)}
      empty={
        <Empty title={status === 'archived' ? 'No archived project' : 'No project yet'}>
          <p>
            A project tracks the usage and costs of a team or product, and can have budgets.
            {canWrite && ' Create one, then choose it when you create or edit an API key.'}
          </p>
        </Empty>
      }
    />
  );
};

/** The projects of an organization. */
export const Screen = () => {
  const me = useSignedIn();
  const [{ organization: chosen, status }, change] = useUrlStates(['organization', 'status'] as const);
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const needsChoice = isOfPlatform(me) && chosen === '';
  const organization = chosen || undefined;
  const canWrite = can(me, 'projects:write') && !needsChoice;
  return (
    <Page
      title="Projects"
      description="Groups of API keys, such as those of a team or product, with their own usage and budgets."
      actions={
        <>
          {can(me, 'usage:read') && <ButtonLink to="/usage?group=project_id">Usage by project</ButtonLink>}
          {canWrite && (
            <Button look="primary" onClick={() => setDialog('create')}>
              Create project
            </Button>
          )}
        </>
      }
    >
      <Filters>
        <OrganizationField value={chosen} onChange={(organization) => change({ organization })} />
        <SelectField
          label="State"
          value={status}
          onChange={(status) => change({ status })}
          choices={[
            ['', 'Active'],
            ['archived', 'Archived'],
            ['all', 'All'],
          ]}
        />
      </Filters>
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>Each organization has its own projects.</p>
        </Empty>
      ) : (
        <ProjectList organization={organization} status={status} canWrite={canWrite} />
      )}
      {dialog === 'create' && canWrite && <CreateProject organization={organization} onClose={() => setDialog('')} />}
    </Page>
  );
};
