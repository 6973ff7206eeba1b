import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page, WithSummary } from '../../design/layout/layout.tsx';
import { choosableTypes, type InstanceType } from '../deployments/hour-cost.ts';
import { CopiesStep } from './copies-step.tsx';
import { type Faults, FIRST_DRAFT, faultsOf, fieldOf, folderIn, type NewDraft, newDeploymentOf, newestOf } from './deployment-draft.ts';
import { InstanceStep } from './instance-step.tsx';
import { ModelStep } from './model-step.tsx';
import { Review } from './review.tsx';
import { type Judged, useEstimate } from './use-estimate.ts';

interface Runtime {
  id: string;
  description: string;
}

interface WizardProps {
  organization: string | undefined;
  runtimes: readonly Runtime[];
  types: readonly InstanceType[];
}

// The newest runtime and the cheapest instances, until others are chosen.
const completed = (draft: NewDraft, { runtimes, types }: WizardProps): NewDraft => {
  const [cheapest] = choosableTypes(types, Number(draft.accelerators) || 1);
  return {
    ...draft,
    runtime: draft.runtime || newestOf(runtimes.map(({ id }) => id)),
    instanceTypes: draft.instanceTypes.length > 0 || !cheapest ? draft.instanceTypes : [cheapest.id],
  };
};

const apiFaults = (draft: NewDraft, { failure }: Judged): Faults => {
  const field = failure && fieldOf(failure);
  return failure && field && !(field === 'model' && draft.model.trim() === '') ? { [field]: failure.message } : {};
};

const Wizard = (props: WizardProps) => {
  const { organization, runtimes, types } = props;
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState(FIRST_DRAFT);
  const draft = completed(typed, props);
  const body = newDeploymentOf(draft, organization);
  const { judged, isCurrent } = useEstimate(body);
  const { data: configuration } = useRead('GET /v1/console/configuration', {});
  const [folder, setFolder] = useState<string>();
  const named = judged.failure && folderIn(judged.failure.message);
  if (named !== undefined && named !== folder) setFolder(named);
  const warnings = judged.estimate?.warnings ?? [];
  const ofTypes = warnings.filter((warning) => draft.instanceTypes.some((id) => warning.includes(id)));
  const step = {
    draft,
    onChange: (changes: Partial<NewDraft>) => setTyped((was) => ({ ...was, ...changes })),
    faults: { ...apiFaults(draft, judged), ...faultsOf(draft) },
  };
  const create = async ({ idempotencyKey }: { idempotencyKey: string }) => {
    if (!body) return;
    const { id, estimate, created_at } = await request('POST /v1/deployments', { body, idempotencyKey });
    void readAgain('/v1/deployments', '/v1/summary', '/v1/models');
    navigate(`/deployments/${id}${estimate ? `?expected=${created_at + estimate.start.p50_seconds}` : ''}`);
  };
  return (
    <WithSummary
      summary={
        <Review
          draft={draft}
          body={body}
          types={types}
          judged={judged}
          isCurrent={isCurrent}
          warnings={warnings.filter((warning) => !ofTypes.includes(warning))}
          onCreate={create}
        />
      }
    >
      <ModelStep {...step} runtimes={runtimes} folder={folder} hubModels={configuration?.hub_models ?? false} />
      <InstanceStep {...step} types={types} estimate={judged.estimate} warnings={ofTypes} />
      <CopiesStep {...step} />
    </WithSummary>
  );
};

const Choices = ({ organization }: { organization: string | undefined }) => {
  const runtimes = useRead('GET /v1/runtimes', {});
  const types = useRead('GET /v1/instance-types', {});
  return (
    <Loaded query={runtimes}>
      {({ data: listed }) => (
        <Loaded query={types}>
          {({ data }) => (
            <Wizard organization={organization} runtimes={listed.filter(({ status }) => status === 'available')} types={data} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const [organization, setOrganization] = useUrlState<string>('organization', '');
  const needsChoice = isOfPlatform(me) && organization === '';
  if (!can(me, 'deployments:write'))
    return (
      <Page title="Deploy a model">
        <Empty title="Your role can't deploy models">
          <p>
            Ask an owner of your organization, or use <Link to="/deployments">an existing deployment</Link>.
          </p>
        </Empty>
      </Page>
    );
  return (
    <Page title="Deploy a model" description={<Link to="/deployments">All deployments</Link>}>
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={organization} onChange={setOrganization} />
        </Filters>
      )}
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>The organization pays for the deployment, and only its API keys can call the model.</p>
        </Empty>
      ) : (
        <Choices key={organization} organization={organization || undefined} />
      )}
    </Page>
  );
};
