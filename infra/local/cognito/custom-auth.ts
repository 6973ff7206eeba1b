import * as z from 'zod';
import type { AuthChallengeTriggers, UserPool, UserPoolClient } from '../../assembly/local-app.ts';
import { REGION } from '../../assembly/resolve.ts';
import { AwsError } from '../http/json-api.ts';
import type { User } from './backend.ts';
import { invalidParameter, notAuthorized, userDisabled, wrongPassword } from './errors.ts';
import { findClient, type Rule, type RuleContext, readRequest, toName } from './rule.ts';
import { createSessions } from './sessions.ts';
import { signedIn } from './sign-in.ts';

interface Step {
  challengeName: string;
  challengeResult: boolean;
}

interface PendingStep {
  clientId: string;
  name: string;
  steps: readonly Step[];
  privateParameters: Readonly<Record<string, string>>;
}

interface Attempt {
  pool: UserPool;
  client: UserPoolClient;
  /** As the caller named the user. */
  name: string;
  /** undefined: nobody has the name. Cognito goes on, so that the caller doesn't learn it. */
  user: User | undefined;
}

const Initiate = z.object({ ClientId: z.string(), AuthParameters: z.record(z.string(), z.string()).default({}) });
const Respond = z.object({
  ClientId: z.string(),
  Session: z.string().default(''),
  ChallengeResponses: z.object({ USERNAME: z.string().default(''), ANSWER: z.string().default('') }).prefault({}),
});

const Parameters = z.record(z.string(), z.string()).nullish();
const Decision = z.object({
  response: z.object({ challengeName: z.string().nullish(), issueTokens: z.boolean(), failAuthentication: z.boolean() }),
});
const Created = z.object({ response: z.object({ publicChallengeParameters: Parameters, privateChallengeParameters: Parameters }) });
const Verified = z.object({ response: z.object({ answerCorrect: z.boolean() }) });

const attributesOf = ({ subject, email }: User) => ({ sub: subject, email, email_verified: 'true', 'cognito:user_status': 'CONFIRMED' });

/**
 * Sign-ins by CUSTOM_AUTH, for administrators and from outside: the app's functions decide. A second factor is not
 * asked for, as on AWS, where only a password leads to it.
 * https://docs.aws.amazon.com/cognito/latest/developerguide/user-pool-lambda-challenge.html
 */
export const createCustomAuth = (context: RuleContext): { initiate: Rule; respond: Rule } => {
  const sessions = createSessions<PendingStep>(context.now);

  const trigger = async <Schema extends z.ZodType>(
    schema: Schema,
    source: keyof typeof SOURCES,
    { pool, client, name, user }: Attempt,
    request: object,
  ): Promise<z.output<Schema>> => {
    if (!pool.triggers) throw invalidParameter('Custom auth lambda trigger is not configured for the user pool.');
    const event = {
      version: '1',
      region: REGION,
      userPoolId: pool.id,
      userName: user?.subject ?? name,
      callerContext: { awsSdkVersion: 'local', clientId: client.id },
      triggerSource: SOURCES[source],
      request: { userAttributes: user ? attributesOf(user) : {}, ...(user ? {} : { userNotFound: true }), ...request },
      response: {},
    };
    const answer = await context.invoke(pool.triggers[source], event).catch(() => {
      throw new AwsError('UserLambdaValidationException', `${SOURCES[source]} failed. See the function's log.`);
    });
    const parsed = schema.safeParse(answer);
    if (!parsed.success) throw new AwsError('InvalidLambdaResponseException', 'Unrecognizable lambda output');
    return parsed.data;
  };

  const goOn = async (attempt: Attempt, steps: readonly Step[]): Promise<object> => {
    const { pool, client, name, user } = attempt;
    const { response } = await trigger(Decision, 'define', attempt, { session: steps });
    if (response.failAuthentication) throw wrongPassword();
    if (response.issueTokens) {
      if (!user) throw wrongPassword();
      return signedIn(context, pool, client, user);
    }
    const { response: created } = await trigger(Created, 'create', attempt, { session: steps, challengeName: response.challengeName });
    return {
      ChallengeName: response.challengeName,
      Session: sessions.open({ clientId: client.id, name, steps, privateParameters: created.privateChallengeParameters ?? {} }),
      ChallengeParameters: { USERNAME: user?.subject ?? name, ...created.publicChallengeParameters },
    };
  };

  const toAttempt = async (clientId: string, username: string): Promise<Attempt> => {
    const { pool, client } = findClient(context, clientId);
    const name = toName(username);
    const user = await context.backend.user(pool, name);
    if (user && !user.isEnabled) throw userDisabled();
    // Nothing says what AWS does, so the stricter is assumed.
    if (user?.hasTemporaryPassword) throw notAuthorized('User must change the password first.');
    return { pool, client, name, user };
  };

  return {
    async initiate(request) {
      const { ClientId, AuthParameters } = readRequest(Initiate, request);
      return goOn(await toAttempt(ClientId, AuthParameters.USERNAME ?? ''), []);
    },
    async respond(request) {
      const { ClientId, Session, ChallengeResponses } = readRequest(Respond, request);
      const pending = sessions.find(Session);
      sessions.close(Session);
      const attempt = await toAttempt(ClientId, ChallengeResponses.USERNAME);
      const first = pending && (await toAttempt(pending.clientId, pending.name));
      if (!first || first.client !== attempt.client || first.user?.subject !== attempt.user?.subject)
        throw notAuthorized('Invalid session for the user.');
      const { response } = await trigger(Verified, 'verify', attempt, {
        privateChallengeParameters: pending.privateParameters,
        challengeAnswer: ChallengeResponses.ANSWER,
      });
      return goOn(attempt, [...pending.steps, { challengeName: 'CUSTOM_CHALLENGE', challengeResult: response.answerCorrect }]);
    },
  };
};

const SOURCES = {
  define: 'DefineAuthChallenge_Authentication',
  create: 'CreateAuthChallenge_Authentication',
  verify: 'VerifyAuthChallengeResponse_Authentication',
} as const satisfies Record<keyof AuthChallengeTriggers, string>;
