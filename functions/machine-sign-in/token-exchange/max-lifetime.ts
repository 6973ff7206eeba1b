import { isEntra } from '../../../shared/federation/entra.ts';

const MAX_LIFETIME_SECONDS = 3_600;
// Entra's tokens end 60 to 90 minutes after they are issued, and name a time of issue 5 minutes earlier.
const ENTRA_SECONDS = 7_200;

/** The longest time from issue to end of a token that is exchanged. */
export const maxLifetimeSeconds = (issuer: string): number => (isEntra(issuer) ? ENTRA_SECONDS : MAX_LIFETIME_SECONDS);
