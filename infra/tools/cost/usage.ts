/** How a deployment is used in a month. Requests are spread evenly over the keys and the month. */
export interface Usage {
  requests: bigint;
  promptTokens: bigint;
  completionTokens: bigint;
  /** How long an answer takes, from the request to its end. */
  milliseconds: bigint;
  isStreamed: boolean;
  /** True if the organizations have prepaid credit or budgets. */
  isPrepaid: boolean;
  /** API keys that are used, each of an organization of its own. */
  keys: bigint;
  /** GB that the tables have from earlier months, because events don't expire. */
  storedGb: bigint;
  /** People who log in to the control plane. */
  users: bigint;
  hasPayloadLog: boolean;
  /** Deployments of organizations that are not deleted, also those that sleep. */
  deployments: bigint;
  /** Hours of SageMaker instances, of all instances together. */
  instanceHours: bigint;
}

const NOTHING: Usage = {
  requests: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
  milliseconds: 0n,
  isStreamed: false,
  isPrepaid: false,
  keys: 1n,
  storedGb: 0n,
  users: 0n,
  hasPayloadLog: false,
  deployments: 0n,
  instanceHours: 0n,
};

/** The months that are shown by default. */
export const SCENARIOS = {
  'short chats': { ...NOTHING, requests: 1_000_000n, promptTokens: 500n, completionTokens: 150n, milliseconds: 2_000n },
  'long streams': {
    ...NOTHING,
    requests: 200_000n,
    promptTokens: 3_000n,
    completionTokens: 1_500n,
    milliseconds: 40_000n,
    isStreamed: true,
    isPrepaid: true,
  },
  idle: NOTHING,
} as const satisfies Record<string, Usage>;

/** The bytes of a reply. */
export const replyBytes = (
  { completionTokens, isStreamed }: Pick<Usage, 'completionTokens' | 'isStreamed'>,
  { chunk, token, rest }: { chunk: number; token: number; rest: number },
): bigint => completionTokens * BigInt(isStreamed ? chunk : token) + BigInt(rest);
