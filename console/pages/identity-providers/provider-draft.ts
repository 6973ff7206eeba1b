import type { ReplyBody, RequestBody } from '../../client/routes.ts';

export type IdentityProvider = ReplyBody<'GET /v1/identity-providers/{id}'>;
type NewProvider = RequestBody<'POST /v1/identity-providers'>;
type ProviderChange = RequestBody<'PATCH /v1/identity-providers/{id}'>;
type Mapping = IdentityProvider['role_mapping'][number];
/** A role that a connection can give. */
export type GivenRole = Mapping['role'];

/** The fields of a connection as its forms edit them. */
export type ProviderDraft = {
  name: string;
  clientId: string;
  /** Empty: none in a new connection, otherwise the stored one stays. */
  clientSecret: string;
  /** With commas between them, as all lists here. */
  domains: string;
  scopes: string;
  roleClaim: string;
  /** A line for each value, highest role first: `value = role`. */
  mapping: string;
  /** Empty: only invited users can sign in. */
  defaultRole: '' | GivenRole;
  requiredAcr: string;
  sessionHours: string;
  addressesAreManaged: boolean;
  deactivationRevokesKeys: boolean;
};

export const PROVIDER_LABELS = {
  name: 'Name',
  clientId: 'Client id',
  clientSecret: 'Client secret',
  domains: 'Domains',
  scopes: 'Scopes',
  roleClaim: 'Role claim',
  mapping: 'Roles by group',
  defaultRole: 'Default role',
  requiredAcr: 'Required acr values',
  sessionHours: 'Session length (hours)',
  addressesAreManaged: 'Treat email addresses as verified',
  deactivationRevokesKeys: 'Revoke API keys on SCIM deactivation',
} as const satisfies Record<keyof ProviderDraft, string>;

export const EMPTY_PROVIDER: ProviderDraft = {
  name: '',
  clientId: '',
  clientSecret: '',
  domains: '',
  scopes: 'openid, email, profile',
  roleClaim: '',
  mapping: '',
  defaultRole: '',
  requiredAcr: '',
  sessionHours: '12',
  addressesAreManaged: false,
  deactivationRevokesKeys: false,
};

const listIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((one) => one.trim())
    .filter(Boolean);

/** The entries of a mapping. A value can have an equals sign in it, and can be empty while it is typed. */
export const mappingIn = (text: string): Mapping[] =>
  text === ''
    ? []
    : text.split('\n').map((line) => {
        const at = line.lastIndexOf(' = ');
        return { value: line.slice(0, at), role: line.slice(at + ' = '.length) as GivenRole };
      });

/** The text of a mapping. */
export const mappingText = (mapping: readonly Mapping[]): string => mapping.map(({ value, role }) => `${value} = ${role}`).join('\n');

const filled = (text: string): Mapping[] =>
  mappingIn(text)
    .map(({ value, role }) => ({ value: value.trim(), role }))
    .filter(({ value }) => value !== '');

/** Why fields can't be sent. */
export const faultsOfProvider = ({ sessionHours, scopes }: ProviderDraft): Partial<Record<keyof ProviderDraft, string>> => ({
  ...(!/^([1-9]|1[0-2])$/.test(sessionHours) && { sessionHours: 'Enter a whole number from 1 to 12.' }),
  ...(!listIn(scopes).includes('openid') && { scopes: 'Add the scope openid.' }),
});

/** The body that creates a connection. @param organization for users of the platform */
export const newProviderOf = (draft: ProviderDraft, issuer: string, organization: string | undefined): NewProvider => ({
  name: draft.name.trim(),
  issuer: issuer.trim(),
  client_id: draft.clientId.trim(),
  ...(draft.clientSecret !== '' && { client_secret: draft.clientSecret }),
  scopes: listIn(draft.scopes),
  domains: listIn(draft.domains),
  role_claim: draft.roleClaim.trim() || null,
  role_mapping: filled(draft.mapping),
  default_role: draft.defaultRole || null,
  required_acr: listIn(draft.requiredAcr),
  session_hours: Number(draft.sessionHours),
  addresses_are_managed: draft.addressesAreManaged,
  deactivation_revokes_keys: draft.deactivationRevokesKeys,
  ...(organization && { organization }),
});

/** A connection as its form edits it. */
export const draftOfProvider = (provider: IdentityProvider): ProviderDraft => ({
  name: provider.name,
  clientId: provider.client_id,
  clientSecret: '',
  domains: provider.domains.map(({ domain }) => domain).join(', '),
  scopes: provider.scopes.join(', '),
  roleClaim: provider.role_claim ?? '',
  mapping: mappingText(provider.role_mapping),
  defaultRole: provider.default_role ?? '',
  requiredAcr: provider.required_acr.join(', '),
  sessionHours: String(provider.session_hours),
  addressesAreManaged: provider.addresses_are_managed,
  deactivationRevokesKeys: provider.deactivation_revokes_keys,
});

/** The body that changes a connection: only what differs from it. */
export const changesOfProvider = (draft: ProviderDraft, provider: IdentityProvider): ProviderChange => {
  const opened = draftOfProvider(provider);
  const differs = (name: keyof ProviderDraft): boolean => draft[name] !== opened[name];
  return {
    ...(differs('name') && { name: draft.name.trim() }),
    ...(differs('clientId') && { client_id: draft.clientId.trim() }),
    ...(differs('clientSecret') && { client_secret: draft.clientSecret }),
    ...(differs('domains') && { domains: listIn(draft.domains) }),
    ...(differs('scopes') && { scopes: listIn(draft.scopes) }),
    ...(differs('roleClaim') && { role_claim: draft.roleClaim.trim() || null }),
    ...(differs('mapping') && { role_mapping: filled(draft.mapping) }),
    ...(differs('defaultRole') && { default_role: draft.defaultRole || null }),
    ...(differs('requiredAcr') && { required_acr: listIn(draft.requiredAcr) }),
    ...(differs('sessionHours') && { session_hours: Number(draft.sessionHours) }),
    ...(differs('addressesAreManaged') && { addresses_are_managed: draft.addressesAreManaged }),
    ...(differs('deactivationRevokesKeys') && { deactivation_revokes_keys: draft.deactivationRevokesKeys }),
  };
};
