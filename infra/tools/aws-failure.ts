import { InvalidConfig } from '../config/config.ts';
import { KeptByNpm } from './kept-by-npm.ts';

const MAX_CAUSES = 5;
const NO_HOST = ['ENOTFOUND', 'EAI_AGAIN'];

interface Failure extends Error {
  code?: string;
}

// Outermost first. The SDK puts the reason of a failed login into the cause.
const chainOf = (error: Error): Failure[] => {
  const chain: Failure[] = [];
  for (let cause: unknown = error; cause instanceof Error && chain.length < MAX_CAUSES; cause = cause.cause) chain.push(cause);
  return chain;
};

/** The next step for an operator whose command could not reach AWS; undefined if the error itself says enough. */
export const adviceOn = (error: Error): string | undefined => {
  const chain = chainOf(error);
  if (chain.some(({ message }) => message === 'Region is missing')) return 'Set AWS_REGION to the one that Sluice is deployed in.';
  if (chain.some(({ code = '' }) => NO_HOST.includes(code)))
    return `Check AWS_REGION, which is ${process.env.AWS_REGION ?? 'that of the profile'}, and the network.`;
  if (
    chain.some(({ name }) =>
      /^(CredentialsProviderError|TokenProviderError|Expired.*|UnrecognizedClient.*|InvalidClientTokenId)$/.test(name),
    )
  )
    return 'Log in, for instance with aws sso login or by setting AWS_PROFILE.';
  return undefined;
};

/** A failed command's error in one line, with the next step if it is known. */
export const describeFailure = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof InvalidConfig || error instanceof KeptByNpm) return error.message;
  const advice = adviceOn(error);
  return advice === undefined ? `${error.name}: ${error.message}` : `${error.name}: ${error.message.replace(/\.$/, '')}. ${advice}`;
};
