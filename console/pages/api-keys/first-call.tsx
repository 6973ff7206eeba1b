import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../client/queries.ts';
import { snippetsOf } from '../../client/snippets.ts';
import { Code } from '../../design/controls/copy.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded, Skeleton } from '../../design/feedback/loaded.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import type { ApiKey } from './key-draft.ts';

const POLL_MS = 5_000;
const AT_ONCE = 100;
const EXAMPLE = { messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 64 } as const;

/** Says if a key has been used, and looks again until it has. */
const FirstRequest = ({ apiKey: { id } }: { apiKey: ApiKey }) => {
  const [isUsed, setUsed] = useState(false);
  const { data } = useRead('GET /v1/api-keys/{id}', { parameters: { id } }, { refetchMs: POLL_MS, enabled: !isUsed });
  if (!isUsed && data?.last_used_at) setUsed(true);
  return isUsed ? (
    <Notice tone="good">
      <p>
        The first request has arrived. <Link to={`/api-keys/${id}`}>See the usage of this key</Link>.
      </p>
    </Notice>
  ) : (
    <p role="status">Waiting for the first request with this key…</p>
  );
};

/** Code that sends a request with a key, for a model that the key can use. */
export const FirstCall = ({ apiKey, isWaiting = false }: { apiKey: ApiKey; isWaiting?: boolean }) => {
  const [userId] = useState(() => crypto.randomUUID());
  const isOnDemand = apiKey.scope === 'on_demand';
  const configuration = useRead('GET /v1/console/configuration', {});
  // A key with models of its own needs no look-up.
  const models = useRead(
    'GET /v1/models',
    { query: { limit: AT_ONCE, ...(isOnDemand && { organization: apiKey.organization }) } },
    { enabled: apiKey.models === null },
  );
  const model = apiKey.models?.[0] ?? models.data?.data.find(({ task }) => task === 'generate')?.name;
  if (apiKey.models === null && models.data && model === undefined)
    return (
      <Notice>
        {isOnDemand ? (
          <p>
            Your organization has no deployment yet. <ScreenLink to="/deployments/new">Deploy a model</ScreenLink>, then send requests to it
            with this key.
          </p>
        ) : (
          'No model is published yet. When there is one, requests with this key can use it.'
        )}
      </Notice>
    );
  if (apiKey.models === null && models.isPending) return <Skeleton />;
  return (
    <Loaded query={configuration}>
      {({ base_url, on_demand_base_url }) => (
        <Stack>
          <p>
            Save the secret in the variable <code>API_KEY</code>, then send a request:
          </p>
          <Code
            label="A request with this key"
            variants={snippetsOf({
              baseUrl: isOnDemand ? on_demand_base_url : base_url,
              body: { model: model ?? '…', ...EXAMPLE },
              ...(isOnDemand && { headers: { 'x-user-id': userId } }),
            })}
          />
          {isWaiting && <FirstRequest apiKey={apiKey} />}
        </Stack>
      )}
    </Loaded>
  );
};
