import { Link, useParams } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Facts, Page, Section } from '../../design/layout/layout.tsx';
import type { Alias } from '../aliases/alias-draft.ts';
import { isChangeableBy } from '../aliases/alias-path.ts';
import { SplitChip } from '../aliases/split-chip.tsx';
import { modelNameOf } from '../models/model-path.ts';
import { AliasActions } from './alias-actions.tsx';
import { SplitState } from './split-state.tsx';

const AliasPage = ({ alias }: { alias: Alias }) => {
  const me = useSignedIn();
  const { model, fallbacks, split, organization } = alias;
  const canChange = can(me, 'aliases:write') && isChangeableBy(me, alias);
  return (
    <Page
      title={alias.alias}
      status={<SplitChip split={split} />}
      description={<Link to="/aliases">All aliases</Link>}
      actions={canChange && <AliasActions alias={alias} />}
    >
      <Section title="Routing" isCard>
        <Facts
          facts={[
            ['Model', model],
            ['Fallbacks', fallbacks.length === 0 ? "the model's own, if any" : fallbacks.map((name, i) => `${i + 1}. ${name}`).join('  ')],
            [
              'Available to',
              organization === null ? (
                'API keys of all organizations, for shared models'
              ) : isOfPlatform(me) ? (
                <IdLink key="for" id={organization} />
              ) : (
                'API keys of your organization'
              ),
            ],
            [
              'Fallback behavior',
              fallbacks.length === 0
                ? undefined
                : 'While the model is asleep, has no capacity or fails, the first available fallback answers at its own price. A sleeping deployment is woken and answers again once it is ready.',
            ],
          ]}
        />
      </Section>
      {split && can(me, 'requests:read') && <SplitState alias={alias} split={split} canChange={canChange} />}
    </Page>
  );
};

/** One alias of a model. */
export const Screen = () => {
  const name = modelNameOf(useParams()['*'] ?? '');
  const [organization] = useUrlState('organization', '');
  const query = useRead('GET /v1/model-aliases/{alias+}', { parameters: { alias: name }, query: { organization } });
  if (query.data) return <AliasPage alias={query.data} />;
  return (
    <Page title={name}>
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
};
