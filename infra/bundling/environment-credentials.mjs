// Bundles use this instead of the SDK's whole credential chain: Lambda gives a function its credentials in the environment,
// and the chain's other links (profiles, SSO, web identity, instance metadata) are 100 kB that a function can never use.
import { fromEnv } from '@aws-sdk/credential-provider-env';

// They stay the same for the life of a process, and are asked for at each call.
export const defaultProvider = (init) => {
  let credentials;
  return () => {
    credentials ??= fromEnv(init)();
    return credentials;
  };
};
