import { Link, useParams } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatUtc } from '../../design/format/times.ts';
import { Columns, Page, Row } from '../../design/layout/layout.tsx';
import { modelNameOf, modelPath } from '../models/model-path.ts';
import { ModelStatus } from '../models/model-status.tsx';
import { playgroundPath } from '../playground/model-choice.ts';
import { ServicePromise } from '../service-promise/service-promise.tsx';
import { type Model, ModelLimits, ModelPrice } from './model-facts.tsx';
import { ModelSnippet } from './model-snippet.tsx';
import { PlatformActions } from './platform-actions.tsx';
import { PlatformFacts } from './platform-facts.tsx';

const Deprecation = ({ deprecation }: { deprecation: NonNullable<Model['deprecation']> }) => {
  const { deprecated_at, sunset_at, successor } = deprecation;
  return (
    <Notice tone="warn">
      {deprecated_at * 1_000 > Date.now() ? 'This model will be deprecated on' : 'This model has been deprecated since'}{' '}
      {formatUtc(deprecated_at)}
      {sunset_at !== null && `, and will be removed on ${formatUtc(sunset_at)}`}.{' '}
      {successor !== null && (
        <>
          Use <Link to={modelPath(successor, null)}>{successor}</Link> instead.
        </>
      )}
    </Notice>
  );
};

const Details = ({ model }: { model: Model }) => {
  const me = useSignedIn();
  const { data: sheet } = useRead('GET /v1/pricing/serverless', {}, { enabled: model.organization === null && can(me, 'prices:read') });
  return (
    <>
      {model.deprecation && <Deprecation deprecation={model.deprecation} />}
      <Columns>
        <ModelPrice model={model} next={sheet?.pricing.find((entry) => entry.model === model.name)?.next} />
        <ModelLimits model={model} />
      </Columns>
      <ModelSnippet model={model} />
      {model.organization === null && <ServicePromise model={model} />}
      <PlatformFacts model={model} />
    </>
  );
};

/** One model. */
export const Screen = () => {
  const name = modelNameOf(useParams()['*'] ?? '');
  const [organization] = useUrlState('organization', '');
  const query = useRead('GET /v1/models/{model+}', { parameters: { model: name }, query: { organization } });
  const { data } = query;
  return (
    <Page
      title={name}
      status={data && <ModelStatus model={data} />}
      actions={
        data && (
          <Row>
            {data.task === 'generate' && <ButtonLink to={playgroundPath(data)}>Try it</ButtonLink>}
            <PlatformActions model={data} />
          </Row>
        )
      }
    >
      <Loaded query={query}>{(model) => <Details model={model} />}</Loaded>
    </Page>
  );
};
