import { isEntra } from '../../../shared/federation/entra.ts';
import { ANY_END } from '../../../shared/federation/rule.ts';

interface Identity {
  issuer: string;
  subject: string | null;
  claims: Readonly<Record<string, string>>;
}

interface KnownIssuer {
  name: string;
  isIssuer: (url: URL) => boolean;
  isNarrow: (identity: Identity) => boolean;
  /** Completes "A rule for GitHub Actions must have …". */
  required: string;
}

const isExact = (subject: string | null): subject is string => subject !== null && !subject.endsWith(ANY_END);

// `repo:OWNER@ID/REPOSITORY@ID:…`: unlike names, these ids are never given to another owner or repository.
const IMMUTABLE_REPOSITORY = /^repo:[^/:@*]+@\d+\/[^/:@*]+@\d+:/;
const ROLE = /^arn:aws(-[a-z]+)*:iam::\d{12}:role\/[^*]+$/;
const GITHUB_HOST = 'token.actions.githubusercontent.com';
const GITHUB_DATA_RESIDENCY = /^token\.actions\.[^.]+\.ghe\.com$/;
const GITHUB_SERVER_PATH = '/_services/token';

const KNOWN_ISSUERS: readonly KnownIssuer[] = [
  {
    name: 'GitHub Actions',
    isIssuer: ({ hostname, pathname }) =>
      hostname === GITHUB_HOST || GITHUB_DATA_RESIDENCY.test(hostname) || pathname.replace(/\/$/, '') === GITHUB_SERVER_PATH,
    isNarrow: ({ subject, claims }) => 'repository_id' in claims || IMMUTABLE_REPOSITORY.test(subject ?? ''),
    required: "the claim 'repository_id', or a subject that begins with 'repo:OWNER@ID/REPOSITORY@ID:'",
  },
  {
    name: 'GitLab',
    isIssuer: ({ hostname }) => hostname === 'gitlab.com',
    isNarrow: ({ claims }) => 'project_id' in claims,
    required: "the claim 'project_id'",
  },
  {
    name: 'Google',
    isIssuer: ({ hostname }) => hostname === 'accounts.google.com',
    isNarrow: ({ subject }) => isExact(subject),
    required: "a subject without '*': the numeric id of a service account",
  },
  {
    name: 'Microsoft Entra',
    isIssuer: ({ href }) => isEntra(href),
    isNarrow: ({ claims }) => 'tid' in claims && 'oid' in claims,
    required: "the claims 'tid' and 'oid'",
  },
  {
    name: 'AWS',
    isIssuer: ({ hostname }) => hostname.endsWith('.tokens.sts.global.api.aws'),
    isNarrow: ({ subject }) => ROLE.test(subject ?? ''),
    required: "the ARN of an IAM role as its subject, without '*'",
  },
];

const isAnyone = ({ subject, claims }: Identity): boolean => Object.keys(claims).length === 0 && (subject === null || subject === ANY_END);

/**
 * Returns why a rule would match tokens of too many, as a sentence that says what to do; undefined if it is narrow. An
 * audience alone is no identity: everyone can ask these issuers for a token with any audience.
 */
export const tooWide = (identity: Identity): string | undefined => {
  const url = new URL(identity.issuer);
  const known = KNOWN_ISSUERS.find(({ isIssuer }) => isIssuer(url));
  if (known) return known.isNarrow(identity) ? undefined : `A rule for ${known.name} must have ${known.required}.`;
  return isAnyone(identity) ? "A rule must restrict whose tokens it accepts. Set 'subject' or 'claims'." : undefined;
};
