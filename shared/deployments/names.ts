import { prefixes } from '../ids/id.ts';

/**
 * The name of everything that a generation of a deployment has on AWS: its model, endpoint configuration, endpoint
 * and inference component. It follows from the deployment's id and the generation's number, so creating something
 * twice is impossible: SageMaker rejects a name that exists.
 * @param installation the prefix of this installation's stacks, such as `sluice`
 */
export const awsNameOf = (installation: string, deploymentId: string, generation: number): string =>
  `${awsPrefixOf(installation, deploymentId)}${generation}`;

/** The prefix of the names of all generations of a deployment. */
export const awsPrefixOf = (installation: string, deploymentId: string): string =>
  `${installation}-${deploymentId.slice(prefixes.deployment.length)}-g`;

/**
 * The name on AWS of an adapter's inference component on the endpoint of a generation.
 * @param base the generation's name
 */
export const adapterNameOf = (base: string, adapterId: string): string => `${base}-${adapterId.slice(prefixes.adapter.length)}`;

/** The prefix of the keys of a deployment's archives in the bucket of weights. Organizations can't write there. */
export const archivePrefixOf = (organization: string, deploymentId: string): string => `${archivesOf(organization)}${deploymentId}/`;

/** The keys of all archives in the bucket of weights begin like this. */
export const ARCHIVES_PREFIX = 'adapters/';

/** The prefix of the keys of an organization's archives. */
export const archivesOf = (organization: string): string => `${ARCHIVES_PREFIX}${organization}/`;

const ARCHIVE = '.tar.gz';

/** The key of the archive with an adapter's files, which SageMaker loads. */
export const archiveKeyOf = (organization: string, deploymentId: string, adapterId: string): string =>
  `${archivePrefixOf(organization, deploymentId)}${adapterId}${ARCHIVE}`;

const AWS_NAME = /^.+-([0-9A-Za-z]{18})-g\d+$/;

/**
 * An endpoint with this name can belong to a deployment; one that someone created by hand could have such a name, too.
 */
export const isAwsName = (endpoint: string): boolean => AWS_NAME.test(endpoint);

/** The id of the deployment that an endpoint with this name belongs to; undefined if it can't belong to one. */
export const deploymentIdOf = (endpoint: string): string | undefined => {
  const [, random] = AWS_NAME.exec(endpoint) ?? [];
  return random && prefixes.deployment + random;
};

/** The tags that say to whom a resource on AWS belongs. Permissions depend on them, so owners can't set them. */
export const awsTags = {
  deployment: 'sluice:deployment',
  organization: 'sluice:organization',
  installation: 'sluice:installation',
} as const;

/** The prefix on AWS of tags that an owner chooses. */
export const OWNERS_TAG_PREFIX = 'customer:';
/** AWS's maximum. */
export const MAX_TAG_KEY_CHARACTERS = 128;
