import { ApiError, type FieldNames, nameOf } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import type { ChatCompletionRequest } from './request.ts';
import { screenSchema } from './screen-schema.ts';
import { UnsupportedByModel } from './unsupported-by-model.ts';

const FIELD = 'response_format';

/** 400: structured outputs are off for the model. Interface 2.2 has no `json_schema`. */
export class StructuredOutputsOff extends ApiError {
  constructor(param: string, model: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param,
      message: `The model '${model}' does not support JSON schemas. Send a tool with the schema and force its call, describe the JSON in a message, or ask your administrator to set capabilities.structured_outputs.`,
    });
  }
}

// Only a chat completion has the schema and its name in an object of their own.
const placeOf = (field: string): string => (field === FIELD ? `${FIELD}.json_schema.schema` : `${field}.schema`);

/**
 * Checks that a model can answer in the requested format.
 * @param names the route's names of the fields, where they differ from a chat completion's
 * @throws UnsupportedByModel, StructuredOutputsOff or InvalidSchema (400)
 */
export const checkFormat = ({ response_format: format }: ChatCompletionRequest, model: Model, names?: FieldNames): void => {
  const { json_object, structured_outputs } = model.capabilities;
  const field = nameOf(FIELD, names);
  if (format?.type === 'json_object' && !json_object) throw new UnsupportedByModel(field, model.name);
  if (format?.type !== 'json_schema') return;
  if (!structured_outputs) throw new StructuredOutputsOff(field, model.name);
  screenSchema(format.json_schema.schema, placeOf(field), dialectOf(model).hasStrictGrammar);
};
