// Bundles use this instead of the SDK's credential provider chain. Lambda passes a function's credentials in
// environment variables, and the other providers (profiles, SSO, web identity, instance metadata) are 100 kB of code
// that a function never uses.
import { fromEnv } from '@aws-sdk/credential-provider-env';

// The SDK requests the credentials for each call, but they stay the same for the lifetime of a process.
export const defaultProvider = (init) => {
  let credentials;
  return () => {
    credentials ??= fromEnv(init)();
    return credentials;
  };
};
