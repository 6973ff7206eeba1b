import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createSignInTickets } from '../../shared/identity/sign-in-tickets.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { answerTrigger, type TriggerEvent } from './answer-trigger.ts';

// A retry would find the ticket gone if only the response was lost.
const { once } = createDirectDatabases();

const dependencies = { tickets: createSignInTickets(once, environmentVariable('ATTEMPTS_TABLE')), now: Date.now };

/** Invoked by Cognito for sign-ins with a ticket. */
export const handler = middy<TriggerEvent, TriggerEvent>()
  .use(originalStacks())
  .handler((event) => answerTrigger(dependencies, event));
