/** An entry at rest: short, because an item holds one for each request in flight. */
export type StoredEntry = [
  admittedAtMs: number,
  /** null: not counted. */
  tokens: number | null,
  holdNanos?: number | bigint,
  isFromCredit?: 0 | 1,
  link?: string | 0 | 1,
  deployment?: string,
];

// The last characters of an id are random; if two deployments share them, one can stay awake longer.
const MARK_CHARACTERS = 6;

/** The end of a deployment's id, by which entries name it. */
export const deploymentMark = (id: string): string => id.slice(-MARK_CHARACTERS);

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
  /** On a key: the `deploymentMark` of the deployment that the request is for, if it is for one. */
  deployment?: string;
}

export const readEntry = ([admittedAtMs, tokens, holdNanos = 0, isFromCredit = 0, link = 0, deployment]: StoredEntry): Entry => ({
  admittedAtMs,
  tokens: tokens ?? undefined,
  holdNanos: BigInt(holdNanos),
  isFromCredit: isFromCredit === 1,
  link: typeof link === 'string' ? link : link === 1,
  ...(deployment !== undefined && { deployment }),
});

export const storedEntry = ({ admittedAtMs, tokens, holdNanos, isFromCredit, link, deployment }: Entry): StoredEntry => {
  const counted = tokens ?? null;
  if (deployment !== undefined)
    return [admittedAtMs, counted, holdNanos, isFromCredit ? 1 : 0, typeof link === 'string' ? link : link ? 1 : 0, deployment];
  if (link !== false) return [admittedAtMs, counted, holdNanos, isFromCredit ? 1 : 0, link === true ? 1 : link];
  if (isFromCredit) return [admittedAtMs, counted, holdNanos, 1];
  return holdNanos > 0n ? [admittedAtMs, counted, holdNanos] : [admittedAtMs, counted];
};
