import * as z from 'zod';

// Lambda's largest functions.
const MAX_MB = 10_240;
// Lambda assigns CPU in proportion to memory. This is one full CPU, and more would not make one thread faster.
const ONE_CPU_MB = 1_769;

// Each function was tested with its default, so less could be too little.
const atLeast = (mb: number) => z.int().min(mb).max(MAX_MB).default(mb);

/** The memory of each function in MB. */
export const Memory = z.strictObject({
  // The largest requests and replies fit, and a million long streams cost less than $90 (decision 0134).
  inference: atLeast(165),
  'ondemand-inference': atLeast(165),
  catalog: atLeast(256),
  'ondemand-catalog': atLeast(256),
  metering: atLeast(256),
  // Parsing events is CPU-bound.
  rollup: atLeast(ONE_CPU_MB),
  // Room for a delivery of 64 MB of lines.
  refusals: atLeast(512),
  // Room for a body of 6 MB and a reply as large, as JSON and parsed.
  payloads: atLeast(512),
  tokenizer: atLeast(ONE_CPU_MB),
  control: atLeast(512),
  'sign-in': atLeast(512),
  'machine-sign-in': atLeast(512),
  'single-sign-on': atLeast(512),
  console: atLeast(256),
  deployments: atLeast(512),
  // Reads and hashes a month of events.
  billing: atLeast(ONE_CPU_MB),
  notifications: atLeast(256),
  'audit-copy': atLeast(256),
  'auth-challenge': atLeast(512),
  // With less CPU, hundreds of streams would wait for it.
  benchmark: atLeast(ONE_CPU_MB),
  support: atLeast(256),
  telemetry: atLeast(512),
});
