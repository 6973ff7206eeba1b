import { readAgain } from '../../client/queries.ts';
import type { IdentityProvider } from '../identity-providers/provider-draft.ts';

/** A part of a connection's page. */
export interface PartProps {
  provider: IdentityProvider;
  /** For users of the platform, who name it in each request. */
  organization: string | undefined;
}

/** The parameters of all requests for a connection. */
export const placeOf = ({ provider: { id }, organization }: PartProps) => ({
  parameters: { id },
  query: { ...(organization && { organization }) },
});

/** Reads everything of connections again. */
export const readProviders = (): Promise<void> => readAgain('/v1/identity-providers');
