import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { executionModeWrittenReplies } from '../../shared/middleware/written-replies.ts';
import { createDirectClients } from './clients/direct-clients.ts';
import { createRoutes } from './routes.ts';

/** Serves the routes that invoke models. */
export const handler = middy({ executionMode: executionModeWrittenReplies })
  .use(identified())
  .use(errorReplies())
  .handler(await createRoutes(createDirectClients));
