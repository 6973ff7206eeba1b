import { SCIM_SCHEMAS } from './names.ts';

/** The most users or groups in one page of a list. */
export const MAX_SCIM_PAGE = 100;

type Mutability = 'readWrite' | 'readOnly' | 'immutable';

interface AttributeFacts {
  description: string;
  type?: 'string' | 'boolean' | 'complex' | 'reference';
  isMany?: true;
  isRequired?: true;
  isCaseExact?: true;
  mutability?: Mutability;
  uniqueness?: 'none' | 'server';
  subAttributes?: readonly object[];
}

const attribute = (name: string, facts: AttributeFacts): object => {
  const { description, type = 'string', isMany = false, isRequired = false, isCaseExact = false, ...rest } = facts;
  const { mutability = 'readWrite', uniqueness = 'none', subAttributes } = rest;
  return {
    name,
    type,
    multiValued: isMany,
    description,
    required: isRequired,
    caseExact: isCaseExact,
    mutability,
    returned: 'default',
    uniqueness,
    ...(subAttributes && { subAttributes }),
  };
};

const value = (description: string, mutability: Mutability): object => attribute('value', { description, isCaseExact: true, mutability });

const USER_ATTRIBUTES = [
  attribute('userName', {
    description: 'The email address with which the user logs in, of a verified domain of the identity provider.',
    isRequired: true,
    mutability: 'immutable',
    uniqueness: 'server',
  }),
  attribute('name', {
    description: 'The parts of the name.',
    type: 'complex',
    subAttributes: ['formatted', 'givenName', 'familyName'].map((name) => attribute(name, { description: 'A part of the name.' })),
  }),
  attribute('displayName', { description: 'The name that others see.' }),
  attribute('emails', {
    description: 'The same address as userName. A user has no other.',
    type: 'complex',
    isMany: true,
    mutability: 'readOnly',
    subAttributes: [
      value('The address.', 'readOnly'),
      attribute('type', { description: 'Always `work`.', mutability: 'readOnly' }),
      attribute('primary', { description: 'Always true.', type: 'boolean', mutability: 'readOnly' }),
    ],
  }),
  attribute('active', {
    description: 'false ends all sessions and rejects all requests of the user.',
    type: 'boolean',
  }),
  attribute('groups', {
    description: 'The groups that have the user as a member.',
    type: 'complex',
    isMany: true,
    mutability: 'readOnly',
    subAttributes: [value('The id of the group.', 'readOnly'), attribute('display', { description: 'Its name.', mutability: 'readOnly' })],
  }),
];

const GROUP_ATTRIBUTES = [
  attribute('displayName', {
    description: 'The name, which the role mapping of the identity provider can name.',
    isRequired: true,
  }),
  attribute('members', {
    description: 'The users in the group.',
    type: 'complex',
    isMany: true,
    subAttributes: [
      value('The id of the user.', 'immutable'),
      attribute('display', { description: 'The name of the user.', mutability: 'readOnly' }),
    ],
  }),
];

/** The documents of `GET /Schemas`, by id (RFC 7643, section 7). */
export const SCIM_SCHEMA_DOCUMENTS = [
  {
    schemas: [SCIM_SCHEMAS.schema],
    id: SCIM_SCHEMAS.user,
    name: 'User',
    description: 'Someone who can log in.',
    attributes: USER_ATTRIBUTES,
  },
  {
    schemas: [SCIM_SCHEMAS.schema],
    id: SCIM_SCHEMAS.group,
    name: 'Group',
    description: 'Users who get a role together.',
    attributes: GROUP_ATTRIBUTES,
  },
];

/** The documents of `GET /ResourceTypes` (RFC 7643, section 6). */
export const SCIM_RESOURCE_TYPES = [
  { id: 'User', endpoint: '/Users', schema: SCIM_SCHEMAS.user },
  { id: 'Group', endpoint: '/Groups', schema: SCIM_SCHEMAS.group },
].map((type) => ({ schemas: [SCIM_SCHEMAS.resourceType], name: type.id, ...type }));

/** The document of `GET /ServiceProviderConfig` (RFC 7643, section 5). */
export const SCIM_SERVICE_PROVIDER_CONFIG = {
  schemas: [SCIM_SCHEMAS.serviceProviderConfig],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_SCIM_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'A token of the identity provider, created by an owner, in the header Authorization: Bearer.',
      primary: true,
    },
  ],
};
