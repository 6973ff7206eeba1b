import type { Item } from '../database/database.ts';
import type { Capabilities } from './model.ts';

// Release 0.1.0 can't read a row whose capabilities have a name that it doesn't know, but ignores further attributes.

/** The stored form of something with capabilities: those that release 0.1.0 doesn't know are beside the others. */
export const toStoredCapabilities = <Owner extends { capabilities: Capabilities }>({
  capabilities: { structured_outputs, ...capabilities },
  ...owner
}: Owner) => ({ ...owner, capabilities, ...(structured_outputs && { structured_outputs }) });

/** The reverse of `toStoredCapabilities`, before a schema reads it. */
export const fromStoredCapabilities = ({ structured_outputs, ...stored }: Item): Item =>
  structured_outputs === undefined ? stored : { ...stored, capabilities: { ...(stored.capabilities as object), structured_outputs } };
