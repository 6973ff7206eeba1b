// Bundles use this instead of the SDK's whole credential chain: Lambda gives a function its credentials in the environment,
// and the chain's other links (profiles, SSO, web identity, instance metadata) are 100 kB that a function can never use.
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = (init) => fromEnv(init);
