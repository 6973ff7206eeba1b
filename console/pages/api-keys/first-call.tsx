import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../client/queries.ts';
import { exampleBody, snippetsOf, type Task } from '../../client/snippets.ts';
import { Code } from '../../design/controls/copy.tsx';
import { Segments } from '../../design/controls/fields.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded, Skeleton } from '../../design/feedback/loaded.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { callableModels } from './callable-models.ts';
import type { ApiKey } from './key-draft.ts';

const POLL_MS = 5_000;
const AT_ONCE = 100;

const TASKS = [
  ['generate', 'Chat'],
  ['embed', 'Embeddings'],
  ['rerank', 'Reranking'],
] as const satisfies readonly (readonly [Task, string])[];

// Says if a key has been used, and looks again until it has.
const FirstRequest = ({ apiKey: { id } }: { apiKey: ApiKey }) => {
  const [isUsed, setUsed] = useState(false);
  const { data } = useRead('GET /v1/api-keys/{id}', { parameters: { id } }, { refetchMs: POLL_MS, enabled: !isUsed });
  if (!isUsed && data?.last_used_at) setUsed(true);
  return isUsed ? (
    <Notice tone="good">
      <p>
        The first request has arrived. <Link to={`/api-keys/${id}`}>View this key's usage</Link>.
      </p>
    </Notice>
  ) : (
    <p role="status">Waiting for the first request with this key…</p>
  );
};

/** Code that sends a request with a key, for each task of the models that the key can use. */
export const FirstCall = ({ apiKey, isWaiting = false }: { apiKey: ApiKey; isWaiting?: boolean }) => {
  const [userId] = useState(() => crypto.randomUUID());
  const [chosen, setChosen] = useState<Task>();
  const isOnDemand = apiKey.scope === 'on_demand';
  const configuration = useRead('GET /v1/console/configuration', {});
  const models = useRead('GET /v1/models', { query: { limit: AT_ONCE, ...(isOnDemand && { organization: apiKey.organization }) } });
  if (models.isPending) return <Skeleton />;
  const callable = callableModels(models.data?.data ?? [], apiKey);
  const tasks = TASKS.filter(([task]) => callable.has(task));
  const task = chosen ?? tasks[0]?.[0] ?? 'generate';
  if (models.data && tasks.length === 0)
    return (
      <Notice>
        {isOnDemand ? (
          <p>
            Your organization has no deployments yet. <ScreenLink to="/deployments/new">Deploy a model</ScreenLink>, then send requests to
            it with this key.
          </p>
        ) : (
          'No model is published yet. Once there is one, this key can use it.'
        )}
      </Notice>
    );
  return (
    <Loaded query={configuration}>
      {({ base_url, on_demand_base_url }) => (
        <Stack>
          <p>
            Set the environment variable <code>API_KEY</code> to the secret, then send a request:
          </p>
          {tasks.length > 1 && <Segments label="What the request does" value={task} onChange={setChosen} choices={tasks} />}
          <Code
            label="Example request with this key"
            variants={snippetsOf({
              task,
              baseUrl: isOnDemand ? on_demand_base_url : base_url,
              body: exampleBody(task, callable.get(task) ?? '…'),
              ...(isOnDemand && { headers: { 'x-user-id': userId } }),
            })}
          />
          {isWaiting && <FirstRequest apiKey={apiKey} />}
        </Stack>
      )}
    </Loaded>
  );
};
