import * as z from 'zod';

const MAX_CHARACTERS = 100;
/** The most matches of a lookup. */
export const MAX_MATCHES = 20;

export const LookupQuery = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1)
    .max(MAX_CHARACTERS)
    .meta({
      description: 'An id, an email address, the hint of an API key, the start of its name, or the name of a model. Never a secret.',
      examples: ['req_1lNcTUSq3vTzyiBxiH50nXkCb'],
    }),
});

export const LookupMatch = z.object({
  object: z.enum([
    'api_key',
    'organization',
    'project',
    'user',
    'service_account',
    'identity_provider',
    'deployment',
    'model',
    'invoice',
    'credit_note',
    'export',
    'webhook',
    'ticket',
    'request',
  ]),
  id: z.string(),
  name: z
    .string()
    .nullable()
    .meta({ description: 'Such as the name of an API key, the email address of a user or the number of an invoice.' }),
  organization: z.string().nullable().meta({ description: 'The organization that it belongs to; null: the platform.' }),
  url_path: z.string().meta({ description: 'The path of its route.', examples: ['/v1/api-keys/key_VbdBUPc4RtYvB8fK2m'] }),
});
export type LookupMatch = z.infer<typeof LookupMatch>;

export const Lookup = z.object({
  object: z.literal('list'),
  data: z.array(LookupMatch).max(MAX_MATCHES),
  has_more: z
    .boolean()
    .meta({ description: 'If true, more API keys can match than were read or returned. Send more of the name, or the id.' }),
});
export type Lookup = z.infer<typeof Lookup>;
