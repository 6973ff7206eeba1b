/** An entry at rest: short, because an item holds one for each request in flight. */
export type StoredEntry = [
  admittedAtMs: number,
  /** null: not counted. */
  tokens: number | null,
  holdNanos?: number | bigint,
  isFromCredit?: 0 | 1,
  link?: string | 0 | 1,
  /** 0: none. */
  deployment?: string | 0,
  user?: string | 0,
  project?: string | 0,
];

// The last characters of an id are random; if two deployments share them, one can stay awake longer.
const MARK_CHARACTERS = 6;

/** The end of a deployment's id, by which entries name it. */
export const deploymentMark = (id: string): string => id.slice(-MARK_CHARACTERS);

/**
 * True if a reservation is for a request that the deployment serves or waits to serve. Entries of earlier releases name
 * all deployments that can serve it.
 */
export const isForDeployment = ({ deployment }: Pick<Entry, 'deployment'>, id: string): boolean =>
  deployment?.split(' ').includes(deploymentMark(id)) ?? false;

/** A request's reservation in one limiter. */
export interface Entry {
  admittedAtMs: number;
  /** Reserved tokens; undefined if the limiter does not count them. */
  tokens: number | undefined;
  /** The nano-dollars held for the request: the most that it can cost; 0 if the limiter does not limit money. */
  holdNanos: bigint;
  /** The hold is paid from prepaid credit. */
  isFromCredit: boolean;
  /** On a key: true if its organization has an entry too. On an organization: the id of the key's limiter. */
  link: string | boolean;
  /** On a key: the `deploymentMark` of the deployment that was tried last, if one was. */
  deployment?: string;
  /** On a key: the hash of the end user, if the user's limiter has an entry too. */
  user?: string;
  /** On a key: the id of the project, if its limiter has an entry too. */
  project?: string;
}

export const readEntry = ([
  admittedAtMs,
  tokens,
  holdNanos = 0,
  isFromCredit = 0,
  link = 0,
  deployment,
  user,
  project,
]: StoredEntry): Entry => ({
  admittedAtMs,
  tokens: tokens ?? undefined,
  holdNanos: BigInt(holdNanos),
  isFromCredit: isFromCredit === 1,
  link: typeof link === 'string' ? link : link === 1,
  ...(deployment && { deployment }),
  ...(user && { user }),
  ...(project && { project }),
});

export const storedEntry = ({ admittedAtMs, tokens, holdNanos, isFromCredit, link, deployment, user, project }: Entry): StoredEntry => {
  const linked = typeof link === 'string' ? link : link ? 1 : 0;
  const stored: StoredEntry = [
    admittedAtMs,
    tokens ?? null,
    holdNanos,
    isFromCredit ? 1 : 0,
    linked,
    deployment ?? 0,
    user ?? 0,
    project ?? 0,
  ];
  // Values of 0 at the end are left out.
  while (stored.length > 2 && (stored.at(-1) === 0 || stored.at(-1) === 0n)) stored.pop();
  return stored;
};
