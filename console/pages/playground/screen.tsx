import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { Empty, Failure, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page, Split, Stack } from '../../design/layout/layout.tsx';
import { Composer } from './composer.tsx';
import { clearConversation, useConversation } from './conversation-store.ts';
import { defaultModel, type Model, modelChosen } from './model-choice.ts';
import { ModelFields } from './model-fields.tsx';
import { type Chosen, type Sender, sendAgain, sendMessage } from './send-turn.ts';
import { faultsOf } from './settings.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { Turns } from './turns.tsx';
import { useModels } from './use-models.ts';

const NoModel = () => (
  <Empty title="No model yet">
    <p>Shared models appear here when the platform publishes them, and your deployments when they run.</p>
    <ButtonLink to="/models">See models and prices</ButtonLink>
  </Empty>
);

const Start = () => (
  <Empty title="Write the first message">
    <p>
      The playground sends the same requests as your programs, with a temporary API key. Answers are billed like any other request. The
      conversation exists only in this tab and is lost when you close or reload it.
    </p>
  </Empty>
);

interface BenchProps {
  models: readonly Model[];
  organization: string | undefined;
}

const Bench = ({ models, organization }: BenchProps) => {
  const me = useSignedIn();
  const [names, changeNames] = useUrlStates(['model', 'with']);
  const { settings, draft, turns } = useConversation(me.id);
  const { data: configuration, error, refetch } = useRead('GET /v1/console/configuration', {});
  const chosen: Chosen = {
    model: names.model === '' ? defaultModel(models) : modelChosen(models, names.model),
    with: modelChosen(models, names.with),
  };
  const sender: Sender | undefined = configuration && { chosen, settings, turns, configuration, userId: me.id, organization };
  const canSend = sender !== undefined && chosen.model !== undefined && Object.keys(faultsOf(settings)).length === 0;
  const unknown = [names.model, names.with].filter((name) => name !== '' && !modelChosen(models, name));
  return (
    <>
      <Filters>
        <ModelFields models={models} chosen={chosen} onChange={changeNames} />
        {turns.length > 0 && <Button onClick={clearConversation}>Clear conversation</Button>}
      </Filters>
      {unknown.length > 0 && <Notice tone="warn">You can't use {unknown.join(' and ')} here. Choose another model.</Notice>}
      {error && <Failure failure={error} onRetry={() => void refetch()} />}
      <Split beside={<SettingsPanel settings={settings} models={[chosen.model, chosen.with].filter((model) => model !== undefined)} />}>
        <Stack>
          {turns.length === 0 && <Start />}
          <Turns turns={turns} chosen={chosen} onRepeat={(turn, side) => sender && sendAgain(sender, turn, side)} />
          <Composer draft={draft} last={turns.at(-1)} onSend={canSend ? () => sendMessage(sender, draft) : undefined} />
        </Stack>
      </Split>
    </>
  );
};

/** Tries models with the requests that programs send. */
export const Screen = () => {
  const ofPlatform = isOfPlatform(useSignedIn());
  const [{ organization }, change] = useUrlStates(['organization']);
  const needsChoice = ofPlatform && organization === '';
  const models = useModels(organization);
  return (
    <Page title="Playground" description="Try models with the requests that your programs send, and see their speed and exact cost.">
      {ofPlatform && (
        <Filters>
          <OrganizationField value={organization} onChange={(next) => change({ organization: next })} />
        </Filters>
      )}
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>The organization pays for the requests that you send here, and its limits apply.</p>
        </Empty>
      ) : (
        <Loaded query={models}>
          {(all) => (all.length === 0 ? <NoModel /> : <Bench models={all} organization={ofPlatform ? organization : undefined} />)}
        </Loaded>
      )}
    </Page>
  );
};
