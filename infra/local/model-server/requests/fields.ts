import * as z from 'zod';

// Not z.int(): a seed can be any int64, and JSON.parse has already rounded it.
export const Integer = z.number().refine(Number.isInteger, 'Input should be a valid integer');
const Int64 = Integer.min(-(2 ** 63)).max(2 ** 63);
export const JsonObject = z.record(z.string(), z.json());

const ResponseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: z.string(),
      schema: JsonObject,
      strict: z.boolean().nullish(),
      description: z.string().nullish(),
    }),
  }),
]);
export type ResponseFormat = z.infer<typeof ResponseFormat>;

const samplingFields = {
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: Integer.nullish(),
  min_p: z.number().nullish(),
  seed: Int64.nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  min_tokens: Integer.optional(),
  bad_words: z.array(z.string()).optional(),
  allowed_token_ids: z.array(Integer).nullish(),
  stop_token_ids: z.array(Integer).nullish(),
};

// vLLM ignores these.
const sluiceFields = {
  typical_p: z.number().nullish(),
  mirostat_target: z.number().nullish(),
  mirostat_lr: z.number().nullish(),
};

/** The fields that chat and text completions share, with vLLM's types. Null passes where vLLM allows it. */
export const sharedFields = {
  ...samplingFields,
  ...sluiceFields,
  model: z.string().nullish(),
  max_tokens: Integer.nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: ResponseFormat.nullish(),
  user: z.string().nullish(),
  include_stop_str_in_output: z.boolean().optional(),
  skip_special_tokens: z.boolean().optional(),
  ignore_eos: z.boolean().optional(),
  return_token_ids: z.boolean().nullish(),
  cache_salt: z.string().nullish(),
  request_id: z.string().optional(),
};

const SharedFields = z.looseObject({ ...sharedFields, n: Integer.nullish() });
export type SharedFields = z.infer<typeof SharedFields>;

/** Returns the stop strings; a request has one string or an array. */
export const stopsOf = ({ stop }: SharedFields): string[] => (typeof stop === 'string' ? [stop] : (stop ?? []));

/** True if the response has usage: a stream only if requested, any other response always. */
export const asksUsage = ({ stream, stream_options: options }: SharedFields): boolean => !stream || (options?.include_usage ?? false);
