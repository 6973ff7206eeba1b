import * as z from 'zod';

const Concurrency = z.int().min(1).max(100_000);

/**
 * Everything that a deployer may set, checked. It is read from the CDK context key `sluice`: in cdk.json, or as
 * `cdk deploy -c sluice='{"alarmEmail":"ops@example.com"}'`.
 */
export const Config = z.strictObject({
  /** The first part of every stack's name: two deployments in one account differ in it. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'expected up to 20 lower-case letters, digits and dashes')
    .default('sluice'),
  /** Endpoints and inference components that carry this tag, with the value `true`, may be invoked. */
  endpointTag: z.string().min(1).max(128).default('sluice'),
  /** The regions whose endpoints may be invoked; none = the region of the deployment. */
  endpointRegions: z
    .array(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/))
    .max(16)
    .default([]),
  /** The most environments that each function may have, so that a flood of one never starves the others; null leaves them to the account's pool (new accounts have only 10). */
  reservedConcurrency: z
    .strictObject({
      inference: Concurrency,
      catalog: Concurrency,
      metering: Concurrency,
      rollup: Concurrency.default(10),
      tokenizer: Concurrency.default(100),
      control: Concurrency.default(20),
      'ondemand-inference': Concurrency.default(200),
      'ondemand-catalog': Concurrency.default(20),
    })
    .nullable()
    .default({
      inference: 400,
      catalog: 50,
      metering: 5,
      rollup: 10,
      tokenizer: 100,
      control: 20,
      'ondemand-inference': 200,
      'ondemand-catalog': 20,
    }),
  /**
   * Where the on-demand host is, without `/v1` and without a slash at the end. The serverless host tells it to a caller whose key is for that one.
   * Known with a domain of your own, or after the first deployment; without it the other host is named and not its URL.
   */
  ondemandUrl: z
    .url({ protocol: /^https$/ })
    .refine((url) => !url.endsWith('/'), 'expected no slash at the end')
    .optional(),
  /**
   * Accept `response_format` json_schema as OpenAI defines it, where the model's runtime holds answers to the schema; without it such a request is a
   * 400, as the interface has it.
   */
  structuredOutputs: z.boolean().default(false),
  /** Whether anybody may make an account; without it administrators invite. */
  selfSignUp: z.boolean().default(false),
  logRetentionDays: z.union([z.literal(7), z.literal(30), z.literal(90), z.literal(365)]).default(30),
  /** Alarms go to this address; without it they are only shown. */
  alarmEmail: z.email().optional(),
  /** The commit that is deployed, told by GET /version. */
  commit: z.string().max(64).default('unknown'),
});
export type Config = z.output<typeof Config>;

/** The configuration, or an error that names what is wrong with it. */
export const readConfig = (context: unknown): Config => {
  const value: unknown = typeof context === 'string' ? JSON.parse(context) : (context ?? {});
  const result = Config.safeParse(value);
  if (!result.success)
    throw new Error(`The context 'sluice' is not as documented in infra/config/config.ts:\n${z.prettifyError(result.error)}`);
  return result.data;
};
