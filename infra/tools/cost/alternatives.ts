import { MONTH_HOURS } from './at-rest.ts';
import type { Line } from './line.ts';
import { REPLY_BYTES } from './measured.ts';
import { gigabytes, type Quantity, quantity } from './quantity.ts';
import { replyBytes, type Usage } from './usage.ts';

// The smallest gateway that always runs without a single point of failure.
const TASKS = { count: 2n, cpus: 1n, gigabytes: 2n } as const;
const DATABASE_GB = 20;
const CACHE_NODES = 2n;

// The load balancer bills a unit for so much in an hour.
const HOURLY_BALANCER_UNIT = { gigabytes: 1n, connections: 25n * 3_600n } as const;

const HOURS = BigInt(MONTH_HOURS);

/**
 * A month of two Fargate tasks behind a load balancer, with a database and a cache in two zones each. It is the
 * gateway only: the model's instances cost the same behind it. What depends on how it is built is left out, in its
 * favor: NAT, logs, backups, metrics, more tasks under load.
 */
export const linesOfGateway = (usage: Usage): Line[] => [
  { item: 'tasks', price: 'fargateCpuHour', quantity: quantity(TASKS.count * TASKS.cpus * HOURS) },
  { item: 'tasks', price: 'fargateGbHour', quantity: quantity(TASKS.count * TASKS.gigabytes * HOURS) },
  { item: 'load balancer', price: 'balancerHour', quantity: quantity(HOURS) },
  { item: 'load balancer', price: 'balancerUnitHour', quantity: balancerUnitHours(usage) },
  { item: 'database', price: 'databaseHour', quantity: quantity(HOURS) },
  { item: 'database', price: 'databaseGb', quantity: quantity(DATABASE_GB) },
  { item: 'cache', price: 'cacheHour', quantity: quantity(CACHE_NODES * HOURS) },
  { item: 'replies', price: 'dataTransferOut', quantity: gigabytes(usage.requests * replyBytes(usage, REPLY_BYTES)) },
];

// Bytes and new connections take units; the larger number is billed.
const balancerUnitHours = (usage: Usage): Quantity => {
  const bytes = gigabytes((usage.requests * replyBytes(usage, REPLY_BYTES)) / HOURLY_BALANCER_UNIT.gigabytes);
  const connections = quantity(usage.requests, HOURLY_BALANCER_UNIT.connections);
  return bytes.amount * connections.scale > connections.amount * bytes.scale ? bytes : connections;
};

/** The same tokens from Bedrock, on demand: no gateway, no instance, and no keys, limits or bills for customers. */
export const linesOfBedrock = ({ requests, promptTokens, completionTokens }: Usage): Line[] => [
  { item: 'input tokens', price: 'bedrockInput', quantity: quantity(requests * promptTokens) },
  { item: 'output tokens', price: 'bedrockOutput', quantity: quantity(requests * completionTokens) },
];
