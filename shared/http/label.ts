import * as z from 'zod';

/** A name or an id that a client made up. Real ones are far shorter. */
export const Label = z.string().max(256);
