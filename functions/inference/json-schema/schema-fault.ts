import { InvalidValue } from '../../../shared/http/errors.ts';

const MAX_PLACE_CHARACTERS = 200;

/** A JSON Schema that can't be sent to a runtime: 400, with the place in the request. */
export class InvalidSchema extends InvalidValue {
  constructor(place: string, reason: string) {
    const param = place.slice(0, MAX_PLACE_CHARACTERS);
    super(param, reason, 'invalid_json_schema');
  }
}

export type SchemaObject = Readonly<Record<string, unknown>>;

export const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
