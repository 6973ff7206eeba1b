import path from 'node:path';
import { bucketAddress } from '../../shared/aws/endpoint.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { route } from '../../shared/http/router.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { type ConsoleDependencies, consoleConfigurationRoute } from './routes.ts';
import { createConsole } from './serve-console.ts';

const serverlessUrl = environmentVariable('SERVERLESS_URL');
const onDemandUrl = environmentVariable('ONDEMAND_URL');
// Attachments of tickets are uploaded to the bucket.
const { endpoint: filesUrl } = bucketAddress(environmentVariable('TICKET_FILES_BUCKET'), environmentVariable('AWS_REGION'));
const originOf = (url: string): string => new URL(url).origin;

const dependencies: ConsoleDependencies = {
  configuration: {
    object: 'console_configuration',
    version: environmentVariable('SLUICE_VERSION'),
    commit: environmentVariable('SLUICE_COMMIT'),
    base_url: `${serverlessUrl}/v1`,
    on_demand_base_url: `${onDemandUrl}/v1`,
    hub_models: environmentVariable('HUB_MODELS') === 'true',
  },
};

const serve = createConsole({
  folder: path.join(import.meta.dirname, 'console'),
  origins: [...new Set([serverlessUrl, onDemandUrl, filesUrl].map(originOf))],
});

export const handler = middy<ApiEvent, Reply>()
  .use(identified())
  .use(errorReplies())
  .handler(
    route({
      [CONSOLE_PATHS.configuration]: { GET: (event) => consoleConfigurationRoute.handle(dependencies, event) },
      [CONSOLE_PATHS.page]: { GET: serve },
      [`${CONSOLE_PATHS.page}/{path+}`]: { GET: serve },
    }),
  );
