import * as z from 'zod';
import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import type { Operation } from '../../shared/hosts/operation.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import { refuseQuery } from '../../shared/http/validate-query.ts';

/** The addresses and features that the console needs before anyone signs in. */
export const ConsoleConfiguration = z.object({
  object: z.literal('console_configuration'),
  version: z.string().meta({ description: 'The release of this deployment.' }),
  commit: z.string().meta({ description: 'The commit that it was built from.' }),
  base_url: z.string().meta({ description: 'The base URL of OpenAI clients for shared models.' }),
  on_demand_base_url: z.string().meta({ description: 'The base URL of OpenAI clients for deployments of an organization.' }),
  hub_models: z.boolean().meta({ description: 'Whether deployments can take models from a model hub.' }),
});
export type ConsoleConfiguration = z.infer<typeof ConsoleConfiguration>;

export interface ConsoleDependencies {
  configuration: ConsoleConfiguration;
}

interface ConsoleRoute extends Operation<'Sessions'> {
  access: 'public';
  handle: (deps: ConsoleDependencies, event: ApiEvent) => Promise<Reply>;
}

const CACHED = { 'cache-control': 'public, max-age=60' };

export const consoleConfigurationRoute = {
  method: 'GET',
  path: CONSOLE_PATHS.configuration,
  tag: 'Sessions',
  operationId: 'retrieveConsoleConfiguration',
  summary: 'Retrieve the configuration of the console',
  description: 'The addresses and features of this deployment. Anyone can read them.',
  access: 'public',
  reply: {
    status: 200,
    description: 'The configuration.',
    json: { name: 'ConsoleConfiguration', schema: ConsoleConfiguration },
  },
  errors: [400],
  handle: async ({ configuration }, { requestId, queryStringParameters }) => {
    refuseQuery(queryStringParameters);
    return jsonReply(requestId, 200, configuration, CACHED);
  },
} as const satisfies ConsoleRoute;
