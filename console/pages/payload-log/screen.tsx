import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Facts, Filters, Page, Section } from '../../design/layout/layout.tsx';
import type { Settings } from './settings-draft.ts';
import { SettingsForm } from './settings-form.tsx';

const MAX_KEYS = 100;

const SOURCES: Readonly<Record<Settings['source'], string>> = {
  api_key: 'this API key',
  organization: 'the organization',
  default: 'default: nothing is logged',
};

const FollowDialog = ({ settings: { api_key, version }, onClose }: { settings: Settings; onClose: () => void }) => (
  <Confirm
    title="Delete settings of this API key"
    action="Delete settings"
    onClose={onClose}
    onConfirm={async () => {
      await request('DELETE /v1/observability/payload-log', { query: api_key === null ? {} : { api_key }, version });
      await readAgain('/v1/observability/payload-log');
    }}
  >
    The organization's settings apply to {api_key} again. Content that is already logged is kept until its retention ends.
  </Confirm>
);

const State = ({ settings }: { settings: Settings }) => {
  const [isDeleting, setDeleting] = useState(false);
  const { api_key, enabled, source, updated_at, updated_by, pending } = settings;
  return (
    <Section title={api_key === null ? 'Organization' : 'API key'} isCard>
      {pending && (
        <Notice tone="warn">The last change hasn't reached all API keys yet. If this notice stays, save the settings again.</Notice>
      )}
      <Facts
        facts={[
          ['Request content', <Chip key="state" state={enabled ? 'logged' : 'not logged'} tone={enabled ? 'warn' : undefined} />],
          ['API key', api_key === null ? undefined : <IdLink key="key" id={api_key} />],
          ['Settings from', SOURCES[source]],
          ['Changed', updated_at === null ? undefined : <Time key="changed" seconds={updated_at} />],
          ['Changed by', updated_by === null ? undefined : <IdLink key="by" id={updated_by} />],
        ]}
      />
      {source === 'api_key' && (
        <div>
          <Button onClick={() => setDeleting(true)}>Use organization settings</Button>
        </div>
      )}
      {isDeleting && <FollowDialog settings={settings} onClose={() => setDeleting(false)} />}
    </Section>
  );
};

/** The settings of the payload log: which content of requests is kept, and for how long. */
export const Screen = () => {
  const me = useSignedIn();
  const [apiKey, setApiKey] = useUrlState<string>('api_key', '');
  const [saves, setSaves] = useState(0);
  const query = useRead('GET /v1/observability/payload-log', { query: apiKey === '' ? {} : { api_key: apiKey } });
  const keys = useRead('GET /v1/api-keys', { query: { limit: MAX_KEYS } }, { enabled: can(me, 'keys:read') });
  return (
    <Page
      title="Payload log"
      description="Stores the redacted content of requests and responses so that you can inspect it later. Only owners can read it."
    >
      <Filters>
        <FilterField
          label="API key"
          placeholder="All keys without own settings"
          value={apiKey}
          onChange={(next) => {
            setSaves(0);
            setApiKey(next);
          }}
          suggestions={keys.data?.data.map(({ id, name }) => [id, name] as const) ?? []}
          isCode
        />
      </Filters>
      <Loaded query={query}>
        {(settings) => (
          <>
            <State settings={settings} />
            <div role="status">{saves > 0 && <Notice tone="good">Saved. The settings apply from each API key's next request.</Notice>}</div>
            <SettingsForm key={`${settings.api_key} ${saves}`} settings={settings} onSaved={() => setSaves(saves + 1)} />
          </>
        )}
      </Loaded>
    </Page>
  );
};
