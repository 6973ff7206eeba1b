import type * as z from 'zod';

/** The documentation of a setting, from which docs/settings.md and the JSON Schema for editors are made. */
export interface SettingText {
  /** The setting's effect, in Markdown. */
  description: string;
  /** Its cost for the deployer, on AWS's bill or otherwise. */
  cost: string;
  /** Settings that are accepted, with this one among them. */
  example: object;
  /** The default in words, if it follows from other settings. */
  defaultText?: string;
  /** The page, and the heading on it, that say how to use the setting: `options.md#give-each-host-a-domain`. */
  guide?: string;
}

/** Documents the schema of a setting. */
export const setting = <Schema extends z.ZodType>(text: SettingText, schema: Schema): Schema => schema.meta({ ...text });

/** Documents an object of settings. */
export const settings = <Schema extends z.ZodType>(text: Pick<SettingText, 'description' | 'guide'>, schema: Schema): Schema =>
  schema.meta({ ...text });

export const FREE = 'Nothing.';
