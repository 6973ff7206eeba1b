import { useState } from 'react';
import { useRead } from '../../client/queries.ts';
import { exampleBody, snippetsOf } from '../../client/snippets.ts';
import { Code } from '../../design/controls/copy.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section } from '../../design/layout/layout.tsx';
import type { Model } from './model-facts.tsx';

/** Code that sends a request to a model. */
export const ModelSnippet = ({ model: { name, organization, task } }: { model: Model }) => {
  const [userId] = useState(() => crypto.randomUUID());
  const isDeployment = organization !== null;
  return (
    <Section title="Send a request">
      <p>
        Save the secret of an API key {isDeployment && 'for deployments '}in the variable <code>API_KEY</code>, then run this:
      </p>
      <Loaded query={useRead('GET /v1/console/configuration', {})}>
        {({ base_url, on_demand_base_url }) => (
          <Code
            label="A request to this model"
            variants={snippetsOf({
              task,
              baseUrl: isDeployment ? on_demand_base_url : base_url,
              body: exampleBody(task, name),
              ...(isDeployment && { headers: { 'x-user-id': userId } }),
            })}
          />
        )}
      </Loaded>
    </Section>
  );
};
