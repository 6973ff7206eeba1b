import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { exampleBody, snippetsOf } from '../../client/snippets.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section, Stack } from '../../design/layout/layout.tsx';
import { type Deployment, isAsleep } from '../deployments/deployment-state.ts';

// The most that a request without streaming can wait.
const WAIT_SECONDS = '280';

/** Code that sends a request to a deployment, with the headers that its host needs. */
export const FirstRequest = ({ deployment }: { deployment: Deployment }) => {
  const me = useSignedIn();
  const [userId] = useState(() => crypto.randomUUID());
  const { name, task, state, organization } = deployment;
  const mustWait = isAsleep(deployment) || state === 'pending' || state === 'creating' || state === 'waking';
  const keyPath = `/api-keys?${new URLSearchParams({
    dialog: 'create',
    scope: 'on_demand',
    ...(me.organization === null && { organization }),
  })}`;
  return (
    <Section
      title="Send a request"
      isCard
      actions={can(me, 'keys:write') && <ButtonLink to={keyPath}>Create API key for deployments</ButtonLink>}
    >
      <Stack>
        <p>
          Set the environment variable <code>API_KEY</code> to the secret of an API key for deployments, then run this.{' '}
          <code>x-user-id</code> is the id of one of your own users.
          {mustWait && ' With x-wait-for-capacity, the request waits until the deployment is ready, and wakes it if it is asleep.'}
        </p>
        <Loaded query={useRead('GET /v1/console/configuration', {})}>
          {({ on_demand_base_url }) => (
            <Code
              label="Example request to this deployment"
              variants={snippetsOf({
                task,
                baseUrl: on_demand_base_url,
                body: exampleBody(task, name),
                headers: { 'x-user-id': userId, ...(mustWait && { 'x-wait-for-capacity': WAIT_SECONDS }) },
              })}
            />
          )}
        </Loaded>
      </Stack>
    </Section>
  );
};
