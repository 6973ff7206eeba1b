import * as z from 'zod';

/** An error response of an AWS service with the protocol JSON 1.1. */
export class AwsError extends Error {
  /** The value of `__type`. */
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

/** Operations by their `x-amz-target`. They return the body of the response. */
export type Operations = ReadonlyMap<string, (input: unknown) => object>;

/** @throws AwsError ValidationException */
export const readInput = <Input extends z.ZodType>(schema: Input, value: unknown): z.output<Input> => {
  const { data, error } = schema.safeParse(value);
  if (error) throw new AwsError('ValidationException', `${error.issues.length} validation error(s) detected: ${z.prettifyError(error)}`);
  return data;
};

/** @throws AwsError SerializationException */
export const parseBody = (body: Buffer | string): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new AwsError('SerializationException', 'The body is not JSON.');
  }
};

/** A time as JSON 1.1 has it: seconds since the epoch. */
export const wireTime = (ms: number): number => ms / 1000;
