// Returns the path of the first value with a wrong type, such as `.choices[0].index`.
type FaultOf = (value: unknown) => string | undefined;

/** The most choices of a request: prompts × n. */
export const MAX_CHOICES = 128;
// Far more than a runtime generates at once.
const MAX_CALLS = 1_024;

const typed =
  (isRight: (value: unknown) => boolean): FaultOf =>
  (value) =>
    isRight(value) ? undefined : '';

const text = typed((value) => typeof value === 'string');
const textOrNumber = typed((value) => typeof value === 'string' || typeof value === 'number');
const index = typed((value) => Number.isSafeInteger(value) && (value as number) >= 0);
// Each choice has a state of its own.
const choiceIndex = typed((value) => index(value) === undefined && (value as number) < MAX_CHOICES);
const anyObject = typed((value) => typeof value === 'object' && !Array.isArray(value));
const textOrObject = typed((value) => typeof value === 'string' || typeof value === 'object');

// Fields can also be null or absent.
const objectOf = (fields: Readonly<Record<string, FaultOf>>): FaultOf => {
  const entries = Object.entries(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
    for (const [name, faultOf] of entries) {
      const field = (value as Record<string, unknown>)[name];
      const fault = field == null ? undefined : faultOf(field);
      if (fault !== undefined) return `.${name}${fault}`;
    }
    return undefined;
  };
};

const listOf =
  (faultOf: FaultOf, most = Number.POSITIVE_INFINITY): FaultOf =>
  (value) => {
    if (!Array.isArray(value) || value.length > most) return '';
    for (let position = 0; position < value.length; position++) {
      const fault = faultOf(value[position]);
      if (fault !== undefined) return `[${position}]${fault}`;
    }
    return undefined;
  };

const tokenIds = listOf(index);
const called = objectOf({ name: text, arguments: textOrObject });
// Text of another type has no effect: see `textOf`.
const delta = objectOf({ tool_calls: listOf(objectOf({ index, id: text, function: called }), MAX_CALLS) });
const choice = objectOf({
  index: choiceIndex,
  delta,
  message: delta,
  finish_reason: text,
  stop_reason: textOrNumber,
  logprobs: objectOf({ content: listOf(objectOf({})) }),
  token_ids: tokenIds,
  prompt_token_ids: tokenIds,
});
const usage = objectOf({ prompt_tokens_details: anyObject, completion_tokens_details: anyObject });

/**
 * Finds a value in a chunk that nothing downstream can read. Fields that we don't use can have any value.
 * @param chunk the parsed JSON of an event
 */
export const chunkFault: FaultOf = objectOf({
  choices: listOf(choice, MAX_CHOICES),
  usage,
  prompt_token_ids: tokenIds,
  metrics: anyObject,
});
