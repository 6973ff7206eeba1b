import { Link, useParams } from 'wouter';
import { useChosenOrganization } from '../../client/chosen-organization.ts';
import { useRead } from '../../client/queries.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { Chip, Gauge, Money, Time } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatMoney, fromUnits, toUnits } from '../../design/format/amounts.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Columns, Facts, Filters, Note, Page, Row, Section } from '../../design/layout/layout.tsx';
import { ProjectActions } from '../projects/project-actions.tsx';
import { BUDGETS, PROJECT_LABELS, type Project } from '../projects/project-draft.ts';

const GAUGES = {
  day: "Spent of today's budget",
  month: "Spent of this month's budget",
  total: 'Spent of the total budget',
} as const;

// Money that is reserved for requests in progress counts as spent.
const BudgetGauges = ({ project: { budgets, budgets_left } }: { project: Project }) => {
  const known = BUDGETS.flatMap((period) => {
    const [limit, left] = [budgets[period], budgets_left?.[period] ?? null];
    return limit === null || left === null ? [] : [{ period, limit, used: fromUnits(toUnits(limit) - toUnits(left)), left }];
  });
  if (known.length === 0) return null;
  return (
    <Section title="Budgets" isCard>
      <Columns>
        {known.map(({ period, limit, used, left }) => (
          <div key={period}>
            <Gauge label={GAUGES[period]} used={used} limit={limit} format={formatMoney} />
            <Note>
              <Money amount={left} /> left
            </Note>
          </div>
        ))}
      </Columns>
    </Section>
  );
};

const ProjectPage = ({ project, organization }: { project: Project; organization: string | undefined }) => {
  const { id, name, status, budgets, created_at, archived_at } = project;
  const of = new URLSearchParams({ project_id: id, ...(organization && { organization }) });
  return (
    <Page
      title={name}
      status={<Chip state={status} />}
      description={<Link to={`/projects${organization ? `?${new URLSearchParams({ organization })}` : ''}`}>All projects</Link>}
      actions={<ProjectActions project={project} organization={organization} />}
    >
      {status === 'archived' && <Notice>This project is archived. Its API keys keep working, but no other key can join it.</Notice>}
      <BudgetGauges project={project} />
      <Section title="Details" isCard>
        <Facts
          facts={[
            ...BUDGETS.map((period) => [PROJECT_LABELS[period], <Money key={period} amount={budgets[period]} />] as const),
            ['Created', <Time key="created" seconds={created_at} />],
            ['Archived', archived_at === null ? undefined : <Time key="archived" seconds={archived_at} />],
            ['Id', <CopyText key="id" text={id} />],
          ]}
        />
        <Row>
          <ButtonLink to={`/api-keys?${of}`}>API keys</ButtonLink>
          <ButtonLink to={`/usage?${of}`}>Usage and costs</ButtonLink>
          <ButtonLink to={`/requests?${of}`}>Requests</ButtonLink>
        </Row>
      </Section>
    </Page>
  );
};

/** One project. */
export const Screen = () => {
  const { id = '' } = useParams();
  const { chosen, setChosen, organization, needsChoice } = useChosenOrganization();
  const project = useRead('GET /v1/projects/{id}', { parameters: { id }, query: { organization } }, { enabled: !needsChoice });
  if (project.data) return <ProjectPage project={project.data} organization={organization} />;
  return (
    <Page title="Project">
      <Filters>
        <OrganizationField value={chosen} onChange={setChosen} />
      </Filters>
      {needsChoice ? (
        <Empty title="Choose the organization of this project">
          <p>Enter the id of an organization, or choose it by its name.</p>
        </Empty>
      ) : (
        <Loaded query={project}>{() => null}</Loaded>
      )}
    </Page>
  );
};
