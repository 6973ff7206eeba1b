import * as z from 'zod';
import type { Operation } from '../../shared/hosts/operation.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import { AUTH_PATHS } from '../../shared/identity/auth-paths.ts';
import type { MachineSignInDependencies } from './grant.ts';
import { GRANT_TYPES, IssuedToken, issueToken } from './issue-token.ts';
import { ACCESS_TOKEN, API_KEY } from './token-exchange/exchange-grant.ts';

interface MachineRoute extends Operation<'Service accounts'> {
  access: 'public';
  handle: (deps: MachineSignInDependencies, event: ApiEvent) => Promise<Reply>;
}

// For the reference. `readTokenRequest` reads it, because OAuth clients send forms.
const TokenRequestBody = z.object({
  grant_type: z.enum(GRANT_TYPES as [string, ...string[]]),
  client_id: z.string().meta({ description: 'The id of the service account. It can be in the header `Authorization: Basic` instead.' }),
  client_secret: z.string().optional().meta({
    description: 'A secret of the service account. It can be in the header `Authorization: Basic` instead.',
  }),
  federation_rule: z.string().optional().meta({ description: 'For a token exchange: the id of a federation rule of the service account.' }),
  subject_token: z.string().optional().meta({ description: 'For a token exchange: the token of your workload. It is accepted once.' }),
  subject_token_type: z.string().optional().meta({
    description: 'For a token exchange: `urn:ietf:params:oauth:token-type:jwt` or `urn:ietf:params:oauth:token-type:id_token`.',
  }),
  requested_token_type: z
    .enum([ACCESS_TOKEN, API_KEY])
    .optional()
    .meta({
      description: `For a token exchange: \`${API_KEY}\` for an API key, if the rule has \`api_key\`. Default: an access token.`,
    }),
});

/** The routes of the control plane for programs that have no session yet. */
export const machineSignInRoutes: readonly MachineRoute[] = [
  {
    method: 'POST',
    path: AUTH_PATHS.token,
    tag: 'Service accounts',
    operationId: 'issueToken',
    summary: 'Get an access token for a service account',
    description:
      'Returns an access token, which is valid for 15 minutes, or an API key for the workload of a federation rule. The body can be JSON or a form (`application/x-www-form-urlencoded`). Errors have the shape of OAuth: https://www.rfc-editor.org/rfc/rfc6749#section-5.2',
    access: 'public',
    errorShape: 'oauth',
    body: {
      name: 'TokenRequest',
      schema: TokenRequestBody,
      example: {
        grant_type: 'client_credentials',
        client_id: 'user_0q8Xc2VwQy41mTzNbR',
        client_secret: 'sas_0q8Xc2VwQy41mTzNbRVbdBUPc4RtYvB8fK2m0q8Xc2VwQy41mTzN3kZ9aQ',
      },
    },
    reply: { status: 200, description: 'The access token.', json: { name: 'IssuedToken', schema: IssuedToken } },
    errors: [400, 401, 429, 503],
    handle: async (deps, event) => jsonReply(event.requestId, 200, await issueToken(deps, event)),
  },
];
