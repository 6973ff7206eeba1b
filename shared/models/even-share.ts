import { hash } from 'node:crypto';

/** A number that depends only on a text; those of many texts are evenly spread in (0, 1). */
export const evenShare = (text: string): number => (hash('sha256', text, 'buffer').readUIntBE(0, 6) + 0.5) / 2 ** 48;
