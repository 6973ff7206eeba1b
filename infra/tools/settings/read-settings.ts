import * as z from 'zod';
import { Config } from '../../config/config.ts';
import type { SettingText } from '../../config/setting.ts';

/** A node of the JSON Schema of the settings, with the words of `setting` and `settings`. */
export interface SettingSchema extends Partial<SettingText> {
  type?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, SettingSchema>;
  items?: SettingSchema;
  anyOf?: SettingSchema[];
}

/** The JSON Schema of what a deployer writes under the context key `sluice`. */
export const readSettings = (): SettingSchema => z.toJSONSchema(Config, { io: 'input', target: 'draft-7' }) as SettingSchema;

/** A setting with a value of its own. */
export interface Setting {
  /** Keys joined by dots, such as `slo.availability`. */
  path: string;
  schema: SettingSchema & SettingText;
}

const isDocumented = (schema: SettingSchema): schema is SettingSchema & SettingText => schema.cost !== undefined;

/**
 * The settings in a schema, in its order. An object is a setting itself if it says what it costs.
 * @throws Error if a value is documented neither itself nor as a part of another one
 */
export const settingsIn = (schema: SettingSchema, path = ''): Setting[] => {
  if (isDocumented(schema)) return [{ path, schema }];
  if (!schema.properties) throw new Error(`The setting ${path} has no documentation. Wrap its schema in setting().`);
  return Object.entries(schema.properties).flatMap(([key, inner]) => settingsIn(inner, path === '' ? key : `${path}.${key}`));
};
